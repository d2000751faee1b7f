"""Responses requests -> the neutral form.

The vendor stores a response unless the request says `store: false`. A request that does not mention
`store` asks for nothing that another vendor could not do, so it is translated, and the answer says
`store: false`; `store: true`, and whatever refers to something stored, is a loss.
"""

from __future__ import annotations

from msgspec import Raw

from engine.translations.language import RequestLine
from engine.translations.neutral.content import Text
from engine.translations.neutral.members import Members
from engine.translations.neutral.request import (
    ChatRequest,
    Message,
    Thinking,
    ToolChoice,
)
from engine.translations.openai_request_fields import (
    any_object,
    read_allowed_tools,
    read_schema,
    read_tool_choice,
)
from engine.translations.responses.answer_fields import NAME
from engine.translations.responses.caller_tools import read_tools
from engine.translations.responses.item_reader import read_item

_HARMLESS = {
    "store": (b"false",),
    "background": (b"false",),
    "truncation": (b'"disabled"',),
    "stream_options": (b"{}", b'{"include_obfuscation":false}', b'{"include_obfuscation":true}'),
}
"""Members with the values that change nothing."""


_COMMON_INCLUDES = ("message.output_text.logprobs", "reasoning.encrypted_content")
"""What other languages give, too."""


def read_request(body: bytes, line: RequestLine) -> ChatRequest:
    """A request. Raises WrongType."""
    unread: list[str] = []
    members = Members(body, "", unread)
    request = ChatRequest(
        language=NAME,
        model=members.text("model") or line.model,
        messages=[],
        stream=members.boolean("stream") or False,
        id=line.id,
        time=line.time,
        unread=unread,
    )
    request.messages = _messages(members, request)
    request.places["messages"] = "input"
    instructions = members.text("instructions")
    if instructions is not None:
        request.system = [Text(text=instructions, place="instructions")]
    request.tools = read_tools(members, request, "tools")
    request.parallel_calls = members.boolean("parallel_tool_calls")
    request.places["parallel_calls"] = "parallel_tool_calls"
    read_tool_choice(members.raw("tool_choice") or Raw(), request, _read_choice)
    _read_text(members, request)
    _read_sampling(members, request)
    _read_include(members, request)
    for name, values in _HARMLESS.items():
        if members.peek(name).replace(b" ", b"") in values:
            members.raw(name)
    request.extra |= members.rest()
    return request


def _messages(members: Members, request: ChatRequest) -> list[Message]:
    if members.is_text("input"):
        text = Text(text=members.text("input") or "", place="input")
        return [Message(role="user", blocks=[text], place="input")]
    return [
        read_item(raw, members.child(raw, f"input[{index}]"), request)
        for index, raw in enumerate(members.items("input") or ())
    ]


def _read_choice(choice: Members) -> ToolChoice | None:
    if choice.peek("type") == b'"allowed_tools"':
        return read_allowed_tools(choice, _function_name)
    name = _function_name(choice)
    return None if name is None else ToolChoice("any", (name,))


def _function_name(tool: Members) -> str | None:
    """The name of a function or of a tool that a function stands for, None for another one."""
    if tool.text("type") not in ("function", "custom"):
        return None
    name = tool.text("name")
    if not name:
        raise tool.wrong("name", "the name of a function")
    return name


def _read_object(members: Members, name: str, request: ChatRequest) -> Members | None:
    """A member that is an object, kept as it is for its own language."""
    text = members.peek(name)
    value = members.members(name)
    if value is not None:
        request.extra[name] = Raw(text)
    return value


def _read_text(members: Members, request: ChatRequest) -> None:
    request.places |= {"output": "text.format", "verbosity": "text.verbosity"}
    text = _read_object(members, "text", request)
    if text is None:
        return
    request.verbosity = text.text("verbosity") or ""
    form = text.members("format")
    kind = "text" if form is None else form.text("type")
    if form is not None and kind == "json_schema":
        request.output = read_schema(form)
    elif kind == "json_object":
        request.output = any_object()
    elif form is not None and kind != "text":
        raise form.wrong("type", "text, json_object or json_schema")
    text.rest()


def _read_sampling(members: Members, request: ChatRequest) -> None:
    request.places |= {"max_tokens": "max_output_tokens", "thinking": "reasoning"}
    request.max_tokens = members.integer("max_output_tokens")
    request.temperature = members.raw("temperature")
    request.top_p = members.raw("top_p")
    request.top_logprobs = members.integer("top_logprobs") or None
    request.user = members.text("user") or ""
    reasoning = _read_object(members, "reasoning", request)
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
    text = members.peek("include")
    include = members.texts("include")
    if include is None:
        return
    request.extra["include"] = Raw(text)
    request.logprobs = "message.output_text.logprobs" in include
    request.places["logprobs"] = "include"
    request.unread.extend("include" for each in include if each not in _COMMON_INCLUDES)
