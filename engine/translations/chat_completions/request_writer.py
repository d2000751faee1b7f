"""The neutral form -> chat completions requests."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.translations.chat_completions.content_writer import MessageWriter
from engine.translations.chat_completions.models import limit_field, reasoning_effort
from engine.translations.language import WrittenRequest
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.names import ToolNames
from engine.translations.neutral.request import BuiltInTool, ChatRequest, Tool

NAME = "chat_completions"

Json = dict[str, Any]


def write_request(request: ChatRequest, model: str, losses: Losses) -> WrittenRequest:
    """A request for a target that calls the model so."""
    names = ToolNames()
    own = request.language == NAME
    writer = MessageWriter(names, losses, own=own)
    body: Json = {"model": model, "messages": writer.write(request)}
    _write_tools(request, body, names, losses)
    _write_output(request, body)
    _write_sampling(request, model, body, losses)
    if request.stream:
        body["stream"] = True
        if request.stream_usage:
            body["stream_options"] = {"include_usage": True}
    if own:
        body.update(request.extra)
    return WrittenRequest(
        msgspec.json.encode(body), "/chat/completions", tool_names=names.originals
    )


def _write_tools(request: ChatRequest, body: Json, names: ToolNames, losses: Losses) -> None:
    tools: list[Any] = []
    for tool in request.tools:
        if isinstance(tool, Tool):
            tools.append(_tool(tool, names, own=request.language == NAME))
        elif tool.kind == "web_search":
            body["web_search_options"] = tool.raw if tool.language == NAME else {}
        elif tool.language == NAME:
            tools.append(tool.raw)
        else:
            _lose_tool(tool, losses)
    if tools:
        body["tools"] = tools
    if not any(isinstance(tool, Tool) for tool in request.tools):
        return  # a choice without tools is an error
    if request.tool_choice is not None:
        body["tool_choice"] = _choice(request, names)
    if request.parallel_calls is not None:
        body["parallel_tool_calls"] = request.parallel_calls


def _lose_tool(tool: BuiltInTool, losses: Losses) -> None:
    losses.add(tool.place, f"the tool '{tool.name}' is run by another vendor")


def _tool(tool: Tool, names: ToolNames, *, own: bool) -> Json:
    function: Json = {"name": names.legal(tool.name)}
    if tool.description:
        function["description"] = tool.description
    if tool.schema is not None:
        function["parameters"] = tool.schema
    if tool.strict is not None:
        function["strict"] = tool.strict
    if own:
        function.update(tool.extra)
    return {"type": "function", "function": function}


def _choice(request: ChatRequest, names: ToolNames) -> Any:
    choice = request.tool_choice
    assert choice is not None
    functions = [
        {"type": "function", "function": {"name": names.legal(name)}} for name in choice.names
    ]
    if not functions or choice.mode == "none":
        return {"any": "required"}.get(choice.mode, choice.mode)
    if choice.mode == "any" and len(functions) == 1:
        return functions[0]
    mode = "required" if choice.mode == "any" else "auto"
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": functions}}


def _write_output(request: ChatRequest, body: Json) -> None:
    output = request.output
    if output is None:
        return
    if output.kind == "json" or output.schema is None:
        body["response_format"] = {"type": "json_object"}
        return
    schema: Json = {"name": output.name or "response"}
    if output.description:
        schema["description"] = output.description
    schema["schema"] = output.schema
    if output.strict is not None:
        schema["strict"] = output.strict
    body["response_format"] = {"type": "json_schema", "json_schema": schema}


def _write_sampling(request: ChatRequest, model: str, body: Json, losses: Losses) -> None:
    effort, carried = reasoning_effort(request.thinking, model)
    if not carried:
        losses.add(request.place_of("thinking"), "this model does not reason", hint=True)
    values = {
        limit_field(model): request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "top_k": request.top_k if request.language == NAME else None,
        "stop": request.stop or None,
        "n": request.candidates,
        "seed": request.seed,
        "presence_penalty": request.presence_penalty,
        "frequency_penalty": request.frequency_penalty,
        "logprobs": request.logprobs or None,
        "top_logprobs": request.top_logprobs,
        "reasoning_effort": effort,
        "verbosity": request.verbosity or None,
        "user": request.user or None,
    }
    body.update({name: value for name, value in values.items() if value is not None})
    if request.top_k is not None and request.language != NAME:
        losses.add(request.place_of("top_k"))
