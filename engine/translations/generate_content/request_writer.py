"""The neutral form -> generate content requests, the turns in the order that the vendor accepts."""

from __future__ import annotations

from msgspec import Raw

from engine.translations.generate_content import models
from engine.translations.generate_content.content_writer import ContentWriter
from engine.translations.generate_content.subset_writer import SubsetWriter
from engine.translations.neutral.calls import ToolNames, lose_one_call
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.language import TargetRequest
from engine.translations.neutral.losses import Losses, encode_chat
from engine.translations.neutral.request import BuiltInTool, ChatRequest, Message, Tool, ToolChoice
from engine.translations.neutral.turns import hoisted
from engine.values.trees import Json

_NO_PARAMETERS = (Raw(b'{"type":"OBJECT"}'), Raw(b'{"type":"OBJECT","properties":{}}'))
_MODES = {"auto": "AUTO", "any": "ANY", "none": "NONE"}


def write_tools(
    request: ChatRequest, body: Json, names: ToolNames, model: models.Model, losses: Losses
) -> None:
    functions = [tool for tool in request.tools if isinstance(tool, Tool)]
    searches = _searches(request, losses)
    if functions and searches and not model.generation_3:
        losses.add(searches[0].place, "the model cannot search the web together with functions")
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
        calling = config.get("functionCallingConfig", {})
        if calling.get("mode") == "AUTO":
            calling["mode"] = "VALIDATED"
    if config:
        body["toolConfig"] = config


def _searches(request: ChatRequest, losses: Losses) -> list[BuiltInTool]:
    """The web searches, of which the vendor has one without options."""
    searches = []
    for tool in request.tools:
        if isinstance(tool, BuiltInTool) and tool.kind == "web_search":
            searches.append(tool)
        elif isinstance(tool, BuiltInTool):
            losses.add_tool(tool)
    return searches


def _function(tool: Tool, names: ToolNames, schemas: SubsetWriter | None, losses: Losses) -> Json:
    """`schemas` writes the schema of arguments for models that take no JSON Schema."""
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


def write_request(request: ChatRequest, model: str, losses: Losses) -> TargetRequest:
    """A request for a target that calls the model so; its URL names the model."""
    names, facts = ToolNames(first_letter=True), models.model_called(model)
    body = write_turns(request, ContentWriter(names, losses, facts), facts, losses)
    write_tools(request, body, names, facts, losses)
    if config := models.ParameterWriter(request, facts, losses).config():
        body["generationConfig"] = config
    first_call = lose_one_call(request, losses)
    query = "alt=sse" if request.stream else ""
    method = "streamGenerateContent" if request.stream else "generateContent"
    encoded = encode_chat(body, request)
    return TargetRequest(
        encoded, models.path_of(model, method), query, names.originals, first_call=first_call
    )


def write_turns(
    request: ChatRequest, writer: ContentWriter, model: models.Model, losses: Losses
) -> Json:
    """Instructions between turns have no place of their own: they join the first ones."""
    system, turns = hoisted(request)
    if turns and turns[-1].role == "assistant" and not model.prefill:
        losses.add_prefill(turns[-1].place)
        turns = turns[:-1]
    contents = [
        {"role": "model" if turn.role == "assistant" else "user", "parts": parts}
        for turn in turns
        if (parts := writer.ordered_parts(turn.blocks))
    ]
    losses.remainder_error = _remainder_error(turns, contents, request.place_of("messages"))
    members: Json = {"contents": contents}
    if instructions := writer.instructions(system):
        members["systemInstruction"] = {"parts": instructions}
    return members


def _remainder_error(turns: list[Message], contents: list[Json], place: str) -> WrongType | None:
    """The vendor refuses a conversation that says nothing, or nothing in its last turn."""
    if not contents:
        return WrongType(place, "a turn with content for this model")
    if contents[-1]["role"] == "model" and turns[-1].role == "user":
        return WrongType(turns[-1].place, "a last turn with content for this model")
    return None
