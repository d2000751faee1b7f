"""Chat completions requests -> the neutral form."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Raw

from engine.translations.chat_completions.content_reader import (
    read_assistant_blocks,
    read_blocks,
    read_result,
)
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

NAME = "chat_completions"

_MODES = {"none": "none", "auto": "auto", "required": "any"}


def read_request(body: bytes, line: RequestLine) -> ChatRequest:
    """A request. Raises WrongType."""
    unread: list[str] = []
    members = Members(body, "", unread)
    messages = [_read_message(each) for each in members.objects("messages")]
    system, messages = _hoisted(messages)
    request = ChatRequest(
        language=NAME,
        model=members.text("model") or line.model,
        messages=messages,
        system=system,
        id=line.id,
        time=line.time,
        stream=members.boolean("stream") or False,
        stream_usage=_wants_usage(members),
        unread=unread,
    )
    _read_tools(members, request)
    _read_output(members, request)
    _read_sampling(members, request)
    _forget_harmless(members)
    request.extra = members.rest()
    return request


def _read_message(members: Members) -> Message:
    role, place = members.text("role") or "", members.place
    message = Message(role="user", blocks=[], place=place)
    if role in ("system", "developer"):
        message.role, message.blocks = "system", read_blocks(members)
    elif role == "user":
        message.blocks = read_blocks(members)
    elif role == "assistant":
        message.role, message.blocks = "assistant", read_assistant_blocks(members)
    elif role == "tool":
        message.blocks = [read_result(members)]
    else:
        raise members.wrong("role", "system, developer, user, assistant or tool")
    message.extra = members.rest()
    return message


def _hoisted(messages: list[Message]) -> tuple[list[Text], list[Message]]:
    """The blocks of the instructions at the beginning, and the messages after them."""
    system: list[Text] = []
    for index, message in enumerate(messages):
        texts = [block for block in message.blocks if isinstance(block, Text)]
        plain = not message.extra and len(texts) == len(message.blocks)
        if message.role != "system" or not plain:
            return system, messages[index:]
        system += texts
    return system, []


def _wants_usage(members: Members) -> bool:
    options = members.members("stream_options")
    if options is None:
        return False
    options.boolean("include_obfuscation")
    wanted = options.boolean("include_usage") or False
    options.rest()
    return wanted


def _read_tools(members: Members, request: ChatRequest) -> None:
    request.tools = list(_tools(members))
    raw = members.raw("web_search_options")
    if raw is not None:
        place = "web_search_options"
        request.tools.append(
            BuiltInTool(language=NAME, name=place, raw=raw, kind="web_search", place=place)
        )
    request.parallel_calls = members.boolean("parallel_tool_calls")
    request.places["parallel_calls"] = "parallel_tool_calls"
    if members.is_text("tool_choice"):
        mode = _MODES.get(members.text("tool_choice") or "")
        if mode is None:
            raise members.wrong("tool_choice", "none, auto, required or an object")
        request.tool_choice = ToolChoice(mode)  # type: ignore[arg-type]
    elif (choice := members.members("tool_choice")) is not None:
        request.tool_choice = _read_choice(choice)


def _tools(members: Members) -> Iterator[Tool | BuiltInTool]:
    for raw, tool in _with_text(members, "tools"):
        kind = tool.text("type") or "function"
        if kind != "function":
            yield BuiltInTool(language=NAME, name=kind, raw=raw, place=tool.place)
            continue
        function = tool.members("function")
        if function is None:
            raise tool.wrong("function", "an object")
        yield Tool(
            name=function.text("name") or "",
            description=function.text("description") or "",
            schema=function.raw("parameters"),
            strict=function.boolean("strict"),
            place=tool.place,
            extra={**function.rest(), **tool.rest()},
        )


def _with_text(members: Members, name: str) -> Iterator[tuple[Raw, Members]]:
    """The objects of a list, with their JSON texts."""
    place = members.place_of(name)
    for index, raw in enumerate(members.items(name) or ()):
        yield raw, members.child(raw, f"{place}[{index}]")


def _read_choice(choice: Members) -> ToolChoice:
    kind = choice.text("type")
    if kind == "function":
        function = choice.members("function")
        name = function.text("name") if function is not None else None
        if name is None:
            raise choice.wrong("function.name", "the name of a tool")
        return ToolChoice("any", (name,))
    allowed = choice.members("allowed_tools")
    if kind != "allowed_tools" or allowed is None:
        raise choice.wrong("type", "function or allowed_tools")
    mode = "any" if allowed.text("mode") == "required" else "auto"
    names = []
    for tool in allowed.objects("tools"):
        function = tool.members("function")
        name = None if function is None else function.text("name")
        if name is None:
            raise tool.wrong("function.name", "the name of a tool")
        names.append(name)
    return ToolChoice(mode, tuple(names))  # type: ignore[arg-type]


def _read_output(members: Members, request: ChatRequest) -> None:
    request.places["output"] = "response_format"
    form = members.members("response_format")
    kind = form.text("type") if form is not None else "text"
    if form is None or kind == "text":
        return
    if kind == "json_object":
        request.output = OutputFormat(kind="json")
        return
    schema = form.members("json_schema")
    if kind != "json_schema" or schema is None:
        raise form.wrong("type", "text, json_object or json_schema")
    request.output = OutputFormat(
        kind="json_schema",
        schema=schema.raw("schema"),
        name=schema.text("name") or "",
        description=schema.text("description") or "",
        strict=schema.boolean("strict"),
    )
    schema.rest()


def _read_sampling(members: Members, request: ChatRequest) -> None:
    places = request.places
    for name in ("max_tokens", "max_completion_tokens"):  # the second replaced the first
        if name in members:
            request.max_tokens, places["max_tokens"] = members.integer(name), name
    request.temperature = members.raw("temperature")
    request.top_p = members.raw("top_p")
    request.top_k = members.raw("top_k")
    request.seed = members.raw("seed")
    request.presence_penalty = members.raw("presence_penalty")
    request.frequency_penalty = members.raw("frequency_penalty")
    request.candidates, places["candidates"] = members.integer("n"), "n"
    request.logprobs = members.boolean("logprobs") or False
    request.top_logprobs = members.integer("top_logprobs")
    request.verbosity = members.text("verbosity") or ""
    request.user = members.text("user") or ""
    if members.is_text("stop"):
        request.stop = [members.text("stop") or ""]
    else:
        request.stop = members.texts("stop") or []
    effort, places["thinking"] = members.text("reasoning_effort"), "reasoning_effort"
    if effort is not None:
        request.thinking = Thinking(effort=effort, off=effort == "none")


def _forget_harmless(members: Members) -> None:
    """Read members whose value is what happens without them."""
    if members.peek("store") == b"false":
        members.boolean("store")
    if members.peek("modalities").replace(b" ", b"") == b'["text"]':
        members.texts("modalities")
