"""Chat completions requests -> the neutral form."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Raw

from engine.translations.chat_completions.answer_fields import NAME
from engine.translations.chat_completions.content_reader import (
    read_assistant_blocks,
    read_blocks,
    read_result,
)
from engine.translations.language import RequestLine
from engine.translations.neutral.cache_marks import read_cache_mark
from engine.translations.neutral.content import Text
from engine.translations.neutral.extra import extra_inside
from engine.translations.neutral.members import Members
from engine.translations.neutral.request import (
    BuiltInTool,
    ChatRequest,
    Message,
    Thinking,
    Tool,
    ToolChoice,
)
from engine.translations.openai_request_fields import (
    any_object,
    read_allowed_tools,
    read_schema,
    read_tool_choice,
)

_OBJECTS = ("response_format", "stream_options")
"""Objects that are kept whole for their own language."""


def read_request(body: bytes, line: RequestLine) -> ChatRequest:
    """A request. Raises WrongType."""
    unread: list[str] = []
    members = Members(body, "", unread)
    extra = {name: Raw(text) for name in _OBJECTS if (text := members.peek(name))[:1] == b"{"}
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
        extra=extra,
    )
    _read_tools(members, request)
    _read_output(members, request)
    _read_sampling(members, request)
    _forget_harmless(members)
    request.extra |= members.rest()
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
    include_usage = options.boolean("include_usage") or False
    options.rest()
    return include_usage


def _read_tools(members: Members, request: ChatRequest) -> None:
    request.tools = list(_tools(members))
    raw = members.raw("web_search_options")
    if raw is not None:
        place = "web_search_options"
        search = BuiltInTool(language=NAME, name=place, raw=raw, kind="web_search", place=place)
        request.tools.append(search)
        members.child(raw, place).rest()  # each option is this vendor's
    request.parallel_calls = members.boolean("parallel_tool_calls")
    request.places["parallel_calls"] = "parallel_tool_calls"
    read_tool_choice(members, request, _read_choice)


def _tools(members: Members) -> Iterator[Tool | BuiltInTool]:
    for raw, tool in _with_text(members, "tools"):
        kind = tool.text("type") or "function"
        if kind != "function":
            yield BuiltInTool(language=NAME, name=kind, raw=raw, place=tool.place)
            continue
        function = tool.members("function")
        if function is None:
            raise tool.wrong("function", "an object")
        name = function.text("name")
        if not name:
            raise function.wrong("name", "the name of a function")
        yield Tool(
            name=name,
            description=function.text("description") or "",
            schema=function.raw("parameters"),
            strict=function.boolean("strict"),
            place=tool.place,
            cache=read_cache_mark(tool) or read_cache_mark(function),
            extra={**extra_inside("function", function.rest()), **tool.rest()},
        )


def _with_text(members: Members, name: str) -> Iterator[tuple[Raw, Members]]:
    """The objects of a list, with their JSON texts."""
    place = members.place_of(name)
    for index, raw in enumerate(members.items(name) or ()):
        yield raw, members.child(raw, f"{place}[{index}]")


def _read_choice(choice: Members) -> ToolChoice | None:
    if choice.peek("type") == b'"allowed_tools"':
        allowed = choice.members("allowed_tools")
        if allowed is None:
            raise choice.wrong("allowed_tools", "an object")
        return read_allowed_tools(allowed, _function_name)
    name = _function_name(choice)
    return None if name is None else ToolChoice("any", (name,))


def _function_name(tool: Members) -> str | None:
    """The name of a function, None for a tool of another kind."""
    if tool.text("type") != "function":
        return None
    function = tool.members("function")
    name = None if function is None else function.text("name")
    if not name:
        raise tool.wrong("function.name", "the name of a function")
    return name


def _read_output(members: Members, request: ChatRequest) -> None:
    request.places["output"] = "response_format"
    form = members.members("response_format")
    if form is None:
        return
    kind = form.text("type")
    if kind == "json_object":
        request.output = any_object()
    elif kind == "json_schema" and (schema := form.members("json_schema")) is not None:
        request.output = read_schema(schema)
    elif kind != "text":
        raise form.wrong("type", "text, json_object or json_schema")
    form.rest()


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
    if members.peek("logit_bias") == b"{}":
        members.raw("logit_bias")
    if members.peek("modalities").replace(b" ", b"") == b'["text"]':
        members.texts("modalities")
