"""The parameters of a caller of this language, as it wrote them."""

from __future__ import annotations

from typing import Any

from engine.translations.messages.answer_fields import Json
from engine.translations.messages.tool_writer import write_choice, write_function
from engine.translations.neutral.extra import add_extra
from engine.translations.neutral.request import BuiltInTool, ChatRequest, Thinking, Tool


def write_verbatim_parameters(request: ChatRequest) -> Json:
    """All members but the model, the limit of tokens and the conversation."""
    body: Json = {}
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if choice := write_choice(request):
        body["tool_choice"] = choice
    thinking = request.thinking or Thinking()
    if config := _thinking(thinking):
        body["thinking"] = config
    output: Json = {"effort": thinking.effort} if thinking.effort else {}
    if request.output is not None:
        output["format"] = {"type": "json_schema", "schema": request.output.schema}
    body["output_config"] = output or None
    for name in ("temperature", "top_p", "top_k"):
        body[name] = getattr(request, name)
    body["stop_sequences"] = request.stop or None
    body["metadata"] = {"user_id": request.user} if request.user else None
    body["stream"] = request.stream or None
    members = {name: value for name, value in body.items() if value is not None}
    add_extra(members, request.extra)
    return members


def _tool(tool: Tool | BuiltInTool) -> Any:
    if isinstance(tool, BuiltInTool):
        return tool.raw
    strict = {} if tool.strict is None else {"strict": tool.strict}
    return {**write_function(tool), **strict, **tool.extra}


def _thinking(thinking: Thinking) -> Json:
    config: Json = {}
    if thinking.off:
        config["type"] = "disabled"
    elif thinking.budget is not None:
        config.update(type="enabled", budget_tokens=thinking.budget)
    elif thinking.adaptive:
        config["type"] = "adaptive"
    if config and thinking.visible is not None:
        config["display"] = "summarized" if thinking.visible else "omitted"
    return config
