"""The neutral form -> messages requests."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from engine.translations.language import WrittenRequest
from engine.translations.messages.answer_fields import NAME, Json
from engine.translations.messages.content_writer import ContentWriter
from engine.translations.messages.models import Model, model_called
from engine.translations.messages.parameter_writer import ParameterWriter, metadata_of
from engine.translations.messages.turns_writer import write_turns
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.members import WrongType
from engine.translations.neutral.names import ToolNames
from engine.translations.neutral.request import BuiltInTool, ChatRequest, Thinking, Tool, ToolChoice

_PATH = "/messages"
_LONGEST_NAME = 128
_WEB_SEARCH = {"type": "web_search_20250305", "name": "web_search"}
_MEMBERS = msgspec.json.Decoder(dict[str, Raw])
_NO_ARGUMENTS = {"type": "object", "properties": {}}


def write_request(request: ChatRequest, model: str, losses: Losses) -> WrittenRequest:
    """A request for a target that calls the model so."""
    names = ToolNames(_LONGEST_NAME)
    facts = model_called(model)
    own = request.language == NAME
    max_tokens = facts.max_tokens if request.max_tokens is None else request.max_tokens
    body: Json = {"model": model, "max_tokens": max_tokens}
    writer = ContentWriter(names, losses, own=own)
    body.update(write_turns(request, writer, facts, losses, own=own))
    if own:
        _write_own(request, body)
    else:
        _write_foreign(request, body, names, facts, losses)
    if request.stream:
        body["stream"] = True
    if own:
        _add_extra(request, body)
    return WrittenRequest(msgspec.json.encode(body), _PATH, tool_names=names.originals)


def _write_own(request: ChatRequest, body: Json) -> None:
    """The parameters of a caller of this language, as it wrote them."""
    if request.tools:
        body["tools"] = [_own_tool(tool) for tool in request.tools]
    if choice := _choice(request):
        body["tool_choice"] = choice
    thinking = request.thinking or Thinking()
    if config := _own_thinking(thinking):
        body["thinking"] = config
    output: Json = {"effort": thinking.effort} if thinking.effort else {}
    if request.output is not None:
        output["format"] = {"type": "json_schema", "schema": request.output.schema}
    body["output_config"] = output or None
    for name in ("temperature", "top_p", "top_k"):
        body[name] = getattr(request, name)
    body["stop_sequences"] = request.stop or None
    body["metadata"] = {"user_id": request.user} if request.user else None
    for name in [name for name, value in body.items() if value is None]:
        del body[name]


def _own_thinking(thinking: Thinking) -> Json:
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


def _add_extra(request: ChatRequest, body: Json) -> None:
    """Members that only this language knows, some of them inside members that others know."""
    for name, raw in request.extra.items():
        if isinstance(body.get(name), dict):
            body[name] = {**body[name], **_MEMBERS.decode(raw)}
        else:
            body[name] = raw


def _own_tool(tool: Tool | BuiltInTool) -> Any:
    if isinstance(tool, BuiltInTool):
        return tool.raw
    strict = {} if tool.strict is None else {"strict": tool.strict}
    return {**_tool(tool), **strict, **tool.extra}


def _write_foreign(
    request: ChatRequest, body: Json, names: ToolNames, model: Model, losses: Losses
) -> None:
    """The parameters of a caller of another language, as the model accepts them."""
    parameters = ParameterWriter(request, model, losses)
    thinking = parameters.thinking(body["max_tokens"])
    if reason := _why_not_think(request, body, thinking):
        losses.add(request.place_of("thinking"), reason, hint=True)
        del thinking["thinking"]
    thinks = thinking.get("thinking", {}).get("type") in ("enabled", "adaptive")
    _write_tools(request, body, names, losses, strict=model.json_schema)
    if "tools" not in body:
        _declare_called_tools(body)
    _write_choice(request, body, names, losses, forced=model.forced_tools)
    output = {**thinking.pop("output_config", {}), **parameters.output_format()}
    body.update(thinking)
    if output:
        body["output_config"] = output
    body.update(parameters.sampling(thinks=thinks))
    if stop := parameters.stop():
        body["stop_sequences"] = stop
    if request.user:
        body["metadata"] = metadata_of(request.user)
    parameters.lose_the_rest()


def _blocks(message: Json) -> list[Json]:
    """The blocks of a written message, without those that are passed on as they came."""
    content = message["content"]
    if isinstance(content, str):
        return []
    return [block for block in content if isinstance(block, dict)]


def _why_not_think(request: ChatRequest, body: Json, thinking: Json) -> str:
    """The reason why the model cannot be asked to think here, empty for none."""
    config = thinking.get("thinking", {"type": "disabled"})
    if config["type"] == "disabled":
        return ""
    if request.tools and request.tool_choice is not None and request.tool_choice.mode == "any":
        return "the model does not think about a tool call that is demanded"
    if "budget_tokens" in config and not _can_think_on(body["messages"]):
        return "the thoughts before the last tool calls were not sent back"
    return ""


def _can_think_on(messages: list[Json]) -> bool:
    """Whether thoughts on a budget are accepted: in the middle of a round of tool calls, the turn
    that called them must begin with its thoughts."""
    if len(messages) < 2 or messages[-2]["role"] != "assistant":
        return True
    if not any(block["type"] == "tool_result" for block in _blocks(messages[-1])):
        return True
    kinds = [block["type"] for block in _blocks(messages[-2])]
    return bool(kinds) and kinds[0] in ("thinking", "redacted_thinking")


def _declare_called_tools(body: Json) -> None:
    """Declare the tools that were called before, which the vendor demands; they cannot be called
    again."""
    called = {
        block["name"]: {"name": block["name"], "input_schema": _NO_ARGUMENTS}
        for message in body["messages"]
        for block in _blocks(message)
        if block["type"] == "tool_use"
    }
    if called:
        body["tools"] = list(called.values())
        body["tool_choice"] = {"type": "none"}


def _write_tools(
    request: ChatRequest, body: Json, names: ToolNames, losses: Losses, *, strict: bool
) -> None:
    """The tools; `strict`: the model can be held to their schemas."""
    allowed = _allowed(request.tool_choice)
    tools: list[Any] = []
    for tool in request.tools:
        if isinstance(tool, Tool):
            if allowed and tool.name not in allowed:
                continue
            written = _tool(tool, names)
            if tool.strict and strict:
                written["strict"] = True
            elif tool.strict:
                losses.add(f"{tool.place}.strict", "arguments are not checked", hint=True)
            tools.append(written)
        elif tool.language == NAME:
            tools.append(tool.raw)
        elif tool.kind == "web_search":
            tools.append(_WEB_SEARCH)
        else:
            losses.add(tool.place, f"the tool '{tool.name}' is run by another vendor")
    if tools:
        body["tools"] = tools


def _allowed(choice: ToolChoice | None) -> tuple[str, ...]:
    """The only tools that may be declared, since the choice itself cannot name them; empty for all
    of them."""
    if choice is None or (choice.mode == "any" and len(choice.names) == 1):
        return ()
    return choice.names


def _tool(tool: Tool, names: ToolNames | None = None) -> Json:
    written: Json = {"name": tool.name if names is None else names.legal(tool.name)}
    if tool.description:
        written["description"] = tool.description
    written["input_schema"] = _schema(tool)
    return written


def _schema(tool: Tool) -> Any:
    """The schema of a tool's arguments, which must name its type."""
    if tool.schema is None:
        return _NO_ARGUMENTS
    try:
        members = _MEMBERS.decode(tool.schema)
    except msgspec.DecodeError as error:
        raise WrongType(tool.place, "a tool whose schema is an object") from error
    return tool.schema if "type" in members else {"type": "object", **members}


def _write_choice(
    request: ChatRequest, body: Json, names: ToolNames, losses: Losses, *, forced: bool
) -> None:
    if not request.tools or "tools" not in body:
        return  # a choice without tools is an error
    choice = _choice(request)
    if "name" in choice:
        choice["name"] = names.legal(choice["name"])
    if choice.get("type") in ("any", "tool") and not forced:
        losses.add(request.place_of("tool_choice"), "the model chooses itself whether to call")
        choice["type"] = "auto"
        choice.pop("name", None)
    if choice:
        body["tool_choice"] = choice


def _choice(request: ChatRequest) -> Json:
    """Which tools may be called, and whether several at once; empty for nothing said."""
    choice, parallel = request.tool_choice, request.parallel_calls
    written: Json = {}
    if choice is not None:
        written["type"] = choice.mode
        if choice.mode == "any" and len(choice.names) == 1:
            written.update(type="tool", name=choice.names[0])
    if written.get("type") == "none" or (parallel is not False and request.language != NAME):
        return written
    if parallel is not None:
        written = {"type": "auto", **written, "disable_parallel_tool_use": not parallel}
    return written
