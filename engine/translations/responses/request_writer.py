"""The neutral form -> responses requests. The upstream is never asked to store anything."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.translations.language import WrittenRequest
from engine.translations.neutral.effort import effort_of
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.names import ToolNames
from engine.translations.neutral.request import ChatRequest, Tool, ToolChoice
from engine.translations.responses.item_reader import NAME
from engine.translations.responses.item_writer import ItemWriter

Json = dict[str, Any]

_SMALLEST_LIMIT = 16
_CANNOT = ("top_k", "stop", "seed", "presence_penalty", "frequency_penalty")


def write_request(request: ChatRequest, model: str, losses: Losses) -> WrittenRequest:
    """A request for a target that calls the model so."""
    own = request.language == NAME
    names = ToolNames(128)
    writer = ItemWriter(names, losses, own=own)
    body: Json = {"model": model}
    if len(request.system) == 1:
        body["instructions"] = request.system[0].text
    body["input"] = writer.write(request, instructions=len(request.system) != 1)
    if tools := write_tools(request, names, losses):
        body["tools"] = tools
    if request.tool_choice is not None and tools:
        body["tool_choice"] = write_choice(request.tool_choice, names)
    body |= _parameters(request, losses)
    if request.stream:
        body["stream"] = True
    if own:
        body |= request.extra
    else:
        body["store"] = False
    body["include"] = ["reasoning.encrypted_content"]
    if request.logprobs:
        body["include"].append("message.output_text.logprobs")
    return WrittenRequest(msgspec.json.encode(body), "/responses", tool_names=names.originals)


def write_tools(request: ChatRequest, names: ToolNames, losses: Losses) -> list[Any]:
    """The tools of a request."""
    tools: list[Any] = []
    for tool in request.tools:
        if isinstance(tool, Tool):
            tools.append(_tool(tool, names, own=request.language == NAME))
        elif tool.language == NAME:
            tools.append(tool.raw)
        elif tool.kind == "web_search":
            tools.append({"type": "web_search"})
        else:
            losses.add(tool.place, f"the tool '{tool.name}' is run by another vendor")
    return tools


def _tool(tool: Tool, names: ToolNames, *, own: bool) -> Json:
    written: Json = {"type": "function", "name": names.legal(tool.name)}
    if tool.description:
        written["description"] = tool.description
    written["parameters"] = tool.schema
    written["strict"] = tool.strict or False  # the vendor's default would change the schema
    return {**written, **tool.extra} if own else written


def write_choice(choice: ToolChoice, names: ToolNames) -> Any:
    """`tool_choice`."""
    functions = [{"type": "function", "name": names.legal(name)} for name in choice.names]
    if not functions or choice.mode == "none":
        return {"any": "required"}.get(choice.mode, choice.mode)
    if choice.mode == "any" and len(functions) == 1:
        return functions[0]
    mode = "required" if choice.mode == "any" else "auto"
    return {"type": "allowed_tools", "mode": mode, "tools": functions}


def _parameters(request: ChatRequest, losses: Losses) -> Json:
    for name in _CANNOT:
        if getattr(request, name):
            losses.add(request.place_of(name))
    if (request.candidates or 1) > 1:
        losses.add(request.place_of("candidates"))
    limit = request.max_tokens
    if limit is not None and limit < _SMALLEST_LIMIT:
        losses.add(request.place_of("max_tokens"), "the least is 16", hint=True)
        limit = _SMALLEST_LIMIT
    values = {
        "max_output_tokens": limit,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "top_logprobs": request.top_logprobs,
        "parallel_tool_calls": request.parallel_calls,
        "reasoning": _reasoning(request),
        "text": _text(request),
        "user": request.user or None,
    }
    return {name: value for name, value in values.items() if value is not None}


def _reasoning(request: ChatRequest) -> Json | None:
    thinking = request.thinking
    if thinking is None:
        return None
    reasoning: Json = {}
    effort = "none" if thinking.off else thinking.effort
    if not effort and thinking.budget is not None:
        effort = effort_of(thinking.budget)
    if effort:
        reasoning["effort"] = effort
    if thinking.visible:
        reasoning["summary"] = "auto"
    return reasoning or None


def _text(request: ChatRequest) -> Json | None:
    text: Json = {}
    if (form := write_format(request)) is not None:
        text["format"] = form
    if request.verbosity:
        text["verbosity"] = request.verbosity
    return text or None


def write_format(request: ChatRequest) -> Json | None:
    """`text.format`, None for plain text."""
    output = request.output
    if output is None:
        return None
    if output.kind == "json" or output.schema is None:
        return {"type": "json_object"}
    form: Json = {"type": "json_schema", "name": output.name or "response"}
    if output.description:
        form["description"] = output.description
    form["schema"] = output.schema
    if output.strict is not None:
        form["strict"] = output.strict
    return form
