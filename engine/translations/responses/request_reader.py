"""Responses requests -> the neutral form."""

from __future__ import annotations

from collections.abc import Iterator

from engine.translations.language import RequestLine
from engine.translations.neutral.content import Text
from engine.translations.neutral.members import Members
from engine.translations.neutral.request import (
    BuiltInTool,
    ChatRequest,
    Message,
    OutputFormat,
    Thinking,
    Tool,
    ToolChoice,
)
from engine.translations.responses.item_reader import NAME, read_item

_MODES = {"none": "none", "auto": "auto", "required": "any"}
_HARMLESS = {
    "store": (b"false",),
    "background": (b"false",),
    "truncation": (b'"disabled"',),
    "stream_options": (b"{}", b'{"include_obfuscation":false}', b'{"include_obfuscation":true}'),
}
"""Members with the values that change nothing."""


def read_request(body: bytes, line: RequestLine) -> ChatRequest:
    """A request. Raises WrongType."""
    unread: list[str] = []
    members = Members(body, "", unread)
    request = ChatRequest(
        language=NAME,
        model=members.text("model") or line.model,
        messages=_messages(members),
        stream=members.boolean("stream") or False,
        id=line.id,
        time=line.time,
        unread=unread,
    )
    instructions = members.text("instructions")
    if instructions is not None:
        request.system = [Text(text=instructions, place="instructions")]
    request.tools = list(_tools(members))
    _read_choice(members, request)
    _read_text(members, request)
    _read_sampling(members, request)
    _read_include(members, request)
    for name, values in _HARMLESS.items():
        if members.peek(name).replace(b" ", b"") in values:
            members.raw(name)
    request.extra = members.rest()
    return request


def _messages(members: Members) -> list[Message]:
    if members.is_text("input"):
        text = Text(text=members.text("input") or "", place="input")
        return [Message(role="user", blocks=[text], place="input")]
    return [
        read_item(raw, members.child(raw, f"input[{index}]"))
        for index, raw in enumerate(members.items("input") or ())
    ]


def _tools(members: Members) -> Iterator[Tool | BuiltInTool]:
    for index, raw in enumerate(members.items("tools") or ()):
        tool = members.child(raw, f"tools[{index}]")
        kind = tool.text("type") or "function"
        if kind == "function":
            yield Tool(
                name=tool.text("name") or "",
                description=tool.text("description") or "",
                schema=tool.raw("parameters"),
                strict=tool.boolean("strict"),
                place=tool.place,
                extra=tool.rest(),
            )
            continue
        search = "web_search" if kind.startswith("web_search") else ""
        yield BuiltInTool(language=NAME, name=kind, raw=raw, kind=search, place=tool.place)  # type: ignore[arg-type]


def _read_choice(members: Members, request: ChatRequest) -> None:
    request.parallel_calls = members.boolean("parallel_tool_calls")
    request.places["parallel_calls"] = "parallel_tool_calls"
    if members.is_text("tool_choice"):
        mode = _MODES.get(members.text("tool_choice") or "")
        if mode is None:
            raise members.wrong("tool_choice", "none, auto, required or an object")
        request.tool_choice = ToolChoice(mode)  # type: ignore[arg-type]
        return
    choice = members.members("tool_choice")
    if choice is None:
        return
    kind = choice.text("type")
    if kind == "function":
        request.tool_choice = ToolChoice("any", (choice.text("name") or "",))
    elif kind == "allowed_tools":
        mode = "any" if choice.text("mode") == "required" else "auto"
        names = tuple(each.text("name") or "" for each in choice.objects("tools"))
        request.tool_choice = ToolChoice(mode, names)  # type: ignore[arg-type]
    else:
        raise choice.wrong("type", "function or allowed_tools")


def _read_text(members: Members, request: ChatRequest) -> None:
    request.places |= {"output": "text.format", "verbosity": "text.verbosity"}
    text = members.members("text")
    if text is None:
        return
    request.verbosity = text.text("verbosity") or ""
    form = text.members("format")
    kind = "text" if form is None else form.text("type")
    if form is not None and kind == "json_schema":
        request.output = OutputFormat(
            kind="json_schema",
            schema=form.raw("schema"),
            name=form.text("name") or "",
            description=form.text("description") or "",
            strict=form.boolean("strict"),
        )
        form.rest()
    elif kind == "json_object":
        request.output = OutputFormat(kind="json")
    text.rest()


def _read_sampling(members: Members, request: ChatRequest) -> None:
    request.places |= {"max_tokens": "max_output_tokens", "thinking": "reasoning"}
    request.max_tokens = members.integer("max_output_tokens")
    request.temperature = members.raw("temperature")
    request.top_p = members.raw("top_p")
    request.top_logprobs = members.integer("top_logprobs") or None
    request.user = members.text("user") or ""
    reasoning = members.members("reasoning")
    if reasoning is None:
        return
    effort, summary = reasoning.text("effort"), reasoning.text("summary")
    summary = summary or reasoning.text("generate_summary")
    if effort is not None or summary is not None:
        request.thinking = Thinking(
            effort=effort or "", off=effort == "none", visible=True if summary else None
        )
    reasoning.rest()


def _read_include(members: Members, request: ChatRequest) -> None:
    include = members.texts("include") or []
    request.logprobs = "message.output_text.logprobs" in include
    known = ("message.output_text.logprobs", "reasoning.encrypted_content")
    request.unread.extend("include" for each in include if each not in known)
