"""Tools and which of them may be called -> `tools` and `toolConfig`."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from engine.translations.generate_content.models import Model
from engine.translations.generate_content.subset_writer import SubsetWriter
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.names import ToolNames
from engine.translations.neutral.request import BuiltInTool, ChatRequest, Tool, ToolChoice

Json = dict[str, Any]

_NO_PARAMETERS = (Raw(b'{"type":"OBJECT"}'), Raw(b'{"type":"OBJECT","properties":{}}'))
_MODES = {"auto": "AUTO", "any": "ANY", "none": "NONE"}


def write_tools(
    request: ChatRequest, body: Json, names: ToolNames, model: Model, losses: Losses
) -> None:
    """The tools of a caller of another language."""
    functions = [tool for tool in request.tools if isinstance(tool, Tool)]
    searches = _searches(request, losses)
    if functions and searches and not model.generation_3:
        losses.add(searches[0].place, "the model does not search the web beside functions")
        searches = []
    tools: list[Json] = []
    if functions:
        schemas = None if model.json_schema else SubsetWriter(request.size)
        declarations = [_function(tool, names, schemas, losses) for tool in functions]
        tools.append({"functionDeclarations": declarations})
    if searches:
        tools.append({"googleSearch": {}})
    if tools:
        body["tools"] = tools
    config = _config(request.tool_choice, names) if functions else {}
    if functions and searches:  # the vendor demands the one, which excludes the other
        config["includeServerSideToolInvocations"] = True
        _replace_auto(config)
    if config:
        body["toolConfig"] = config


def _replace_auto(config: Json) -> None:
    calling = config.get("functionCallingConfig", {})
    if calling.get("mode") == "AUTO":
        calling["mode"] = "VALIDATED"


def _searches(request: ChatRequest, losses: Losses) -> list[BuiltInTool]:
    """The web searches, of which the vendor has one without options."""
    searches = []
    for tool in request.tools:
        if isinstance(tool, BuiltInTool) and tool.kind == "web_search":
            searches.append(tool)
        elif isinstance(tool, BuiltInTool):
            losses.add(tool.place, f"the tool '{tool.name}' is run by another vendor")
    return searches


def _function(tool: Tool, names: ToolNames, schemas: SubsetWriter | None, losses: Losses) -> Json:
    """A function; `schemas` writes the schema of its arguments for models that take no JSON
    Schema."""
    function: Json = {"name": names.legal(tool.name)}
    if tool.description:
        function["description"] = tool.description
    if tool.schema is not None and schemas is None:
        function["parametersJsonSchema"] = tool.schema
    elif tool.schema is not None and schemas is not None:
        parameters = schemas.write(tool.schema, tool.schema_place)
        if parameters not in _NO_PARAMETERS:  # an object without members is refused
            function["parameters"] = parameters
    if tool.strict:
        losses.add(tool.strict_place, "arguments are not checked", hint=True)
    return function


def _config(choice: ToolChoice | None, names: ToolNames) -> Json:
    if choice is None:
        return {}
    calling: Json = {"mode": _MODES[choice.mode]}
    if choice.names and choice.mode != "none":
        # Names go only with a mode that holds calls to them (ai.google.dev, "Function calling").
        calling["mode"] = "ANY" if choice.mode == "any" else "VALIDATED"
        calling["allowedFunctionNames"] = [names.legal(name) for name in choice.names]
    return {"functionCallingConfig": calling}
