"""Messages requests -> the neutral form."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Literal

from msgspec import Raw

from engine.dialects.anthropic.volatile_texts import stable_text
from engine.translations.messages.answer_fields import NAME
from engine.translations.messages.caller_tools import stands_for
from engine.translations.messages.content_reader import read_content, read_texts
from engine.translations.messages.request_shapes import MessageObject, RequestObject, ToolObject
from engine.translations.neutral import content as neutral
from engine.translations.neutral.json_members import NULL, Members, WrongType
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.parameters import number
from engine.translations.neutral.request import (
    BuiltInTool,
    ChatRequest,
    Message,
    MissingTurns,
    OutputFormat,
    Role,
    Thinking,
    Tool,
    ToolChoice,
)
from engine.translations.neutral.request_json import kind_of, present

_ROLES: tuple[Role, ...] = ("user", "assistant", "system")
_MODES: dict[str, Literal["auto", "any", "none"]] = {"auto": "auto", "any": "any", "none": "none"}
_THREAD = "thread"
_PLACES = {
    "stop": "stop_sequences",
    "parallel_calls": "tool_choice.disable_parallel_tool_use",
}
_DIRECT = Raw(b'["direct"]')


def read_request(body: bytes, line: RequestLine) -> ChatRequest:
    unread: list[str] = []
    members = RequestObject.read(body, "", unread)
    request = ChatRequest(
        language=NAME,
        model=members.model or line.model,
        messages=[
            _read_message(each, f"messages[{index}]", unread)
            for index, each in enumerate(members.messages or ())
        ],
        system=_stable(read_texts(members.system, "system")),
        stream=members.stream or False,
        max_tokens=members.max_tokens,
        temperature=_number(members.temperature, "temperature"),
        top_p=_number(members.top_p, "top_p"),
        top_k=_number(members.top_k, "top_k"),
        stop=members.stop_sequences or [],
        tools=[
            _read_tool(raw, f"tools[{index}]", unread)
            for index, raw in enumerate(members.tools or ())
        ],
        places=dict(_PLACES),
        id=line.id,
        time=line.time,
        unread=unread,
    )
    if request.messages and request.messages[-1].role == "assistant":
        request.prefill = request.messages[-1].place
    for name, raw in zip(_OBJECTS, _objects(members), strict=True):
        if raw and raw != NULL:
            _OBJECTS[name](Members(raw, name, unread), request)
    unread.extend(members.extra)
    if b"defer_loading" in body or b"tool_reference" in body:
        _read_deferred(request)
    if _THREAD in members.extra:
        _read_thread(members.extra[_THREAD], request)
    return request


def _stable(system: list[neutral.Text]) -> list[neutral.Text]:
    """The texts without what clients change with each request."""
    stable = []
    for text in system:
        rest = stable_text(text.text)
        if rest or not text.text:
            text.text = rest
            stable.append(text)
    return stable


def _read_thread(raw: Raw, request: ChatRequest) -> None:
    """The vendor's store of the conversation. One that begins holds nothing that the request does
    not; the vendor's SDKs go on without a thread where the error says that none is supported."""
    unsupported = {"error_code": "thread_unsupported_request", "unsupported": [_THREAD]}
    request.error_details[_THREAD] = unsupported
    if Members(raw, _THREAD).text("type") != "create":
        instead = "Send the whole conversation in 'messages', without a thread."
        request.missing_turns.append(MissingTurns(_THREAD, instead))


def _number(raw: Raw, place: str) -> Raw | None:
    if present(raw) is None:
        return None
    if number(raw) is None:
        raise WrongType(place, "a number")
    return raw


def _read_message(message: MessageObject, place: str, unread: list[str]) -> Message:
    if message.role not in _ROLES:
        raise WrongType(f"{place}.role", "user, assistant or system")
    return Message(
        role=message.role,
        blocks=read_content(message.content, f"{place}.content", unread),
        place=place,
    )


def _read_tool(raw: Raw, place: str, unread: list[str]) -> Tool | BuiltInTool:
    kind = kind_of(raw, place)
    if kind not in (None, "custom", "function"):
        return _built_in(kind, raw, place, unread)
    tool = ToolObject.read(raw, place, unread)
    if present(tool.allowed_callers) not in (None, _DIRECT):
        unread.append(f"{place}.allowed_callers")
    description = tool.description or ""
    if (examples := present(tool.input_examples)) is not None and bytes(examples) != b"[]":
        description += f"\n\nExamples of its input: {bytes(examples).decode()}"
    return Tool(
        name=tool.name or "",
        description=description.strip(),
        schema=present(tool.input_schema),
        strict=tool.strict,
        place=place,
        schema_member="input_schema",
        cache=neutral.read_cache_mark(tool.extra),
        deferred=tool.defer_loading == Raw(b"true"),
    )


def _built_in(name: str, raw: Raw, place: str, unread: list[str]) -> BuiltInTool:
    """A tool that the vendor runs, or that the caller runs and the vendor knows."""
    if not name.startswith("web_search_"):
        functions = stands_for(name, raw, place, unread)
        return BuiltInTool(name=name, raw=raw, functions=functions, place=place)
    members = Members(raw, place, unread)
    members.text("type")
    members.text("name")
    if members.peek("allowed_callers") == bytes(_DIRECT):
        members.raw("allowed_callers")
    members.rest()  # the options are this vendor's: each is noted as unread
    return BuiltInTool(name=name, raw=raw, kind="web_search", place=place)


def _read_deferred(request: ChatRequest) -> None:
    """Find the tools that are not declared to the model before a `tool_reference` in a result names
    them. Where the vendor searches for them, nobody else does: all are declared."""
    functions = {tool.name: tool for tool in request.tools if isinstance(tool, Tool)}
    blocks = [block for message in request.messages for block in message.blocks]
    names = list(request.tool_choice.names) if request.tool_choice else []
    names += [block.name for block in blocks if isinstance(block, neutral.ToolCall)]
    for block in blocks:
        for part in block.content if isinstance(block, neutral.ToolResult) else ():
            if isinstance(part, neutral.Foreign) and part.kind == "tool_reference":
                name = Members(part.raw, part.place).text("tool_name") or ""
                if name in functions:
                    text = f"The tool {name} can be called now."
                    part.substitute = neutral.Text(text=text, place=part.place)
                    names.append(name)
    request.loaded_tools = [functions[name] for name in dict.fromkeys(names) if name in functions]
    if not any(
        isinstance(o, BuiltInTool) and o.name.startswith("tool_search_tool") for o in request.tools
    ):
        request.deferred_tools = frozenset(
            name for name, tool in functions.items() if tool.deferred
        )


def _read_choice(choice: Members, request: ChatRequest) -> None:
    kind, alone = choice.text("type"), choice.boolean("disable_parallel_tool_use")
    request.parallel_calls = None if alone is None else not alone
    if kind == "tool":
        if (name := choice.text("name")) is None:
            raise choice.wrong("name", "the name of a tool")
        request.tool_choice = ToolChoice("any", (name,))
    elif kind in _MODES:
        request.tool_choice = ToolChoice(_MODES[kind])
    else:
        raise choice.wrong("type", "auto, any, tool or none")
    choice.rest()


_VISIBLE = {b'"summarized"': True, b'"omitted"': False}


def _read_thinking(config: Members, request: ChatRequest) -> None:
    kind = config.text("type")
    thinking = request.thinking = Thinking()
    thinking.visible = _VISIBLE.get(config.peek("display"))
    if thinking.visible is not None:
        config.text("display")
    if kind != "enabled" and config.peek("budget_tokens") == b"0":  # Claude Code
        config.raw("budget_tokens")
    if kind == "disabled":
        thinking.off = True
    elif kind in ("adaptive", "between_tools"):
        # Between its calls the model thinks as it likes; no other vendor can be told when.
        thinking.adaptive = True
    elif kind == "enabled":
        thinking.budget = config.integer("budget_tokens")
        if thinking.budget is None:
            raise config.wrong("budget_tokens", "a whole number")
        request.places["thinking"] = "thinking.budget_tokens"
    else:
        raise config.wrong("type", "enabled, disabled, adaptive or between_tools")
    config.rest()


def _read_output(config: Members, request: ChatRequest) -> None:
    if (effort := config.text("effort")) is not None:
        request.thinking = request.thinking or Thinking()
        request.thinking.effort = effort
        request.places["thinking"] = "output_config.effort"
    if (form := config.members("format")) is not None:
        _read_format(form, request)
    config.rest()


def _read_format(form: Members, request: ChatRequest) -> None:
    if form.text("type") != "json_schema":
        raise form.wrong("type", "json_schema")
    schema = form.raw("schema")
    if (other := request.output) is not None and bytes(other.schema or b"") != bytes(schema or b""):
        request.unread.append(request.places["output"])
    request.output = OutputFormat(kind="json_schema", schema=schema, strict=True)
    request.places["output"] = form.place
    request.places["schema"] = form.place_of("schema")
    form.rest()


def _read_metadata(metadata: Members, request: ChatRequest) -> None:
    request.user = metadata.text("user_id") or ""
    request.places["user"] = "metadata.user_id"
    metadata.rest()


_OBJECTS: dict[str, Callable[[Members, ChatRequest], None]] = {
    "tool_choice": _read_choice,
    "thinking": _read_thinking,
    "output_config": _read_output,
    "output_format": _read_format,
    "metadata": _read_metadata,
}
"""What reads the members that are objects."""

_objects = attrgetter(*_OBJECTS)
