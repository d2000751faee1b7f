"""Messages requests -> the neutral form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec
from msgspec import Raw

from engine.translations.language import RequestLine
from engine.translations.messages.answer_fields import NAME
from engine.translations.messages.content_reader import read_content, read_texts
from engine.translations.neutral.cache_marks import read_cache_mark
from engine.translations.neutral.content import Extra, ToolCall, ToolResult
from engine.translations.neutral.members import Members
from engine.translations.neutral.request import (
    BuiltInTool,
    ChatRequest,
    Message,
    OutputFormat,
    Role,
    Thinking,
    Tool,
    ToolChoice,
)

_ROLES: tuple[Role, ...] = ("user", "assistant", "system")
_MODES: dict[str, Literal["auto", "any", "none"]] = {"auto": "auto", "any": "any", "none": "none"}
_WEB_SEARCH = "web_search_"


def read_request(body: bytes, line: RequestLine) -> ChatRequest:
    """A request. Raises WrongType."""
    unread: list[str] = []
    members = Members(body, "", unread)
    request = ChatRequest(
        language=NAME,
        model=members.text("model") or line.model,
        messages=[_read_message(each) for each in members.objects("messages")],
        system=read_texts(members, "system"),
        stream=members.boolean("stream") or False,
        max_tokens=members.integer("max_tokens"),
        temperature=_number(members, "temperature"),
        top_p=_number(members, "top_p"),
        top_k=_number(members, "top_k"),
        stop=members.texts("stop_sequences") or [],
        tools=_read_tools(members),
        id=line.id,
        time=line.time,
        unread=unread,
    )
    _name_results(request.messages)
    if request.messages and request.messages[-1].role == "assistant":
        request.prefill = request.messages[-1].place
    extra: Extra = {}
    request.places["stop"] = "stop_sequences"
    _read_choice(members, request, extra)
    _read_thinking(members, request, extra)
    _read_output(members, request, extra)
    _read_metadata(members, request, extra)
    request.extra = {**extra, **members.rest()}
    return request


def _number(members: Members, name: str) -> Raw | None:
    """A number as it is written."""
    text = members.peek(name)
    return None if members.number(name) is None else Raw(text)


def _read_message(members: Members) -> Message:
    role = members.text("role")
    if role not in _ROLES:
        raise members.wrong("role", "user, assistant or system")
    return Message(
        role=role,
        blocks=read_content(members),
        place=members.place,
        extra=members.rest(),
    )


def _name_results(messages: Iterable[Message]) -> None:
    """Results of tools get the names of their calls, which other languages want to know."""
    blocks = [block for message in messages for block in message.blocks]
    names = {block.id: block.name for block in blocks if isinstance(block, ToolCall)}
    for block in blocks:
        if isinstance(block, ToolResult):
            block.name = names.get(block.id, "")


def _read_tools(members: Members) -> list[Tool | BuiltInTool]:
    return [
        _read_tool(raw, members.child(raw, f"tools[{index}]"))
        for index, raw in enumerate(members.items("tools") or ())
    ]


def _read_tool(raw: Raw, members: Members) -> Tool | BuiltInTool:
    kind = members.peek("type")
    if kind not in (b"", b"null", b'"custom"'):
        name, place = members.text("type") or "", members.place
        if not name.startswith(_WEB_SEARCH):
            return BuiltInTool(language=NAME, name=name, raw=raw, place=place)
        members.text("name")
        members.rest()  # the options are this vendor's: each is noted as unread
        return BuiltInTool(language=NAME, name=name, raw=raw, kind="web_search", place=place)
    extra: Extra = {}
    _keep(members, "type", {b'"custom"'}, extra)
    _keep(members, "allowed_callers", {b'["direct"]'}, extra)
    _keep(members, "defer_loading", {b"false"}, extra)
    return Tool(
        name=members.text("name") or "",
        description=members.text("description") or "",
        schema=members.raw("input_schema"),
        strict=members.boolean("strict"),
        place=members.place,
        cache=read_cache_mark(members),
        extra={**extra, **members.rest()},
    )


def _keep(members: Members, name: str, harmless: set[bytes], extra: Extra) -> None:
    """Keep a member for this language, unnoted if its value is what happens without it."""
    if members.peek(name) in harmless and (raw := members.raw(name)) is not None:
        extra[name] = raw


def _read_choice(members: Members, request: ChatRequest, extra: Extra) -> None:
    choice = members.members("tool_choice")
    request.places["parallel_calls"] = "tool_choice.disable_parallel_tool_use"
    if choice is None:
        return
    kind, alone = choice.text("type"), choice.boolean("disable_parallel_tool_use")
    request.parallel_calls = None if alone is None else not alone
    if kind == "tool":
        name = choice.text("name")
        if name is None:
            raise choice.wrong("name", "the name of a tool")
        request.tool_choice = ToolChoice("any", (name,))
    elif kind in _MODES:
        request.tool_choice = ToolChoice(_MODES[kind])
    else:
        raise choice.wrong("type", "auto, any, tool or none")
    _keep_unread(choice, "tool_choice", {}, extra)


_VISIBLE = {b'"summarized"': True, b'"omitted"': False}


def _read_thinking(members: Members, request: ChatRequest, extra: Extra) -> None:
    config = members.members("thinking")
    if config is None:
        return
    kind = config.text("type")
    thinking = request.thinking = Thinking()
    thinking.visible = _VISIBLE.get(config.peek("display"))
    if thinking.visible is not None:
        config.text("display")
    unread: Extra = {}
    if kind == "disabled":
        thinking.off = True
    elif kind == "adaptive":
        thinking.adaptive = True
    elif kind == "enabled":
        thinking.budget = config.integer("budget_tokens")
        if thinking.budget is None:
            raise config.wrong("budget_tokens", "a whole number")
        request.places["thinking"] = "thinking.budget_tokens"
    elif kind == "between_tools":
        # Between its calls the model thinks as it likes; no other vendor can be told when.
        thinking.adaptive = True
        unread["type"] = Raw(b'"between_tools"')
    else:
        raise config.wrong("type", "enabled, disabled, adaptive or between_tools")
    _keep_unread(config, "thinking", unread, extra)


def _read_output(members: Members, request: ChatRequest, extra: Extra) -> None:
    config = members.members("output_config")
    if config is None:
        return
    effort = config.text("effort")
    if effort is not None:
        request.thinking = request.thinking or Thinking()
        request.thinking.effort = effort
        request.places["thinking"] = "output_config.effort"
    whole_form = config.peek("format")
    form = config.members("format")
    unread: Extra = {}
    if form is not None:
        if form.text("type") != "json_schema":
            raise form.wrong("type", "json_schema")
        request.output = OutputFormat(kind="json_schema", schema=form.raw("schema"), strict=True)
        request.places["output"] = "output_config.format"
        if form.rest():
            unread["format"] = Raw(whole_form)
    _keep_unread(config, "output_config", unread, extra)


def _read_metadata(members: Members, request: ChatRequest, extra: Extra) -> None:
    metadata = members.members("metadata")
    if metadata is None:
        return
    request.user = metadata.text("user_id") or ""
    request.places["user"] = "metadata.user_id"
    _keep_unread(metadata, "metadata", {}, extra)


def _keep_unread(members: Members, name: str, unread: Extra, extra: Extra) -> None:
    """Keep what was not read of a member for this language, beside `unread`."""
    unread = {**unread, **members.rest()}
    if unread:
        extra[name] = Raw(msgspec.json.encode(unread))
