"""Generate content requests -> the neutral form."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qs

import msgspec
from msgspec import Raw

from engine.translations.generate_content.config_reader import read_config
from engine.translations.generate_content.content_reader import ContentReader
from engine.translations.generate_content.fields import NAME, Fields
from engine.translations.generate_content.schemas import to_json_schema
from engine.translations.language import RequestLine
from engine.translations.neutral.content import Extra, Text
from engine.translations.neutral.extra import extra_inside
from engine.translations.neutral.members import Members
from engine.translations.neutral.request import BuiltInTool, ChatRequest, Message, Tool, ToolChoice

_NO_FILTER = ("BLOCK_NONE", "OFF")
_SEARCH = "googleSearch"


def read_request(body: bytes, line: RequestLine) -> ChatRequest:
    """A request; the URL names the model and says whether a stream is wanted. Raises WrongType."""
    unread: list[str] = []
    members = Fields(body, "", unread)
    messages = _messages(members)
    system, extra = _system(members)
    request = ChatRequest(
        language=NAME,
        model=line.model,
        messages=messages,
        system=system,
        stream=line.stream,
        as_list=line.stream and not _wants_events(line.query),
        id=line.id,
        time=line.time,
        unread=unread,
        extra=extra,
    )
    request.places["messages"] = "contents"
    request.tools = list(_tools(members))
    _read_choice(members, request)
    members.text("model")  # where a body repeats it
    read_config(members, request)
    _read_filters(members, request)
    request.extra |= members.rest()
    return request


def _wants_events(query: str) -> bool:
    """Whether a stream is wanted as server-sent events, not as a JSON array."""
    parameters = parse_qs(query)
    return "sse" in [*parameters.get("alt", ()), *parameters.get("$alt", ())]


def _messages(members: Members) -> list[Message]:
    """The turns; one alone may stand for the list of them."""
    reader = ContentReader()
    if members.peek("contents").lstrip()[:1] == b"{":
        content = members.members("contents")
        return [] if content is None else [reader.message(content)]
    return [reader.message(each) for each in members.objects("contents")]


def _system(members: Members) -> tuple[list[Text], Extra]:
    """The instructions, and what else their content says."""
    name = "systemInstruction"
    if members.is_text(name):
        return [Text(text=members.text(name) or "", place=name)], {}
    content = members.members(name)
    if content is None:
        return [], {}
    content.text("role")  # the vendor ignores it
    texts = []
    message = ContentReader().message(content)
    for block in message.blocks:
        if not isinstance(block, Text):
            raise members.wrong(name, "text")
        texts.append(block)
    return texts, extra_inside(name, message.extra)


def _tools(members: Members) -> Iterator[Tool | BuiltInTool]:
    for tool in members.objects("tools"):
        for function in tool.objects("functionDeclarations"):
            yield _tool(function)
        if _SEARCH in tool:
            yield _search(tool)
        for name, raw in tool.unread_members().items():
            yield _built_in(tool, name, raw)


def _search(tool: Members) -> BuiltInTool:
    """A web search, whose options only this vendor has."""
    search = _built_in(tool, _SEARCH, Raw(tool.peek(_SEARCH)))
    search.kind = "web_search"
    options = tool.members(_SEARCH)
    if options is not None:
        options.rest()
    return search


def _built_in(tool: Members, name: str, raw: Raw) -> BuiltInTool:
    declaration = Raw(msgspec.json.encode({name: raw}))
    return BuiltInTool(language=NAME, name=name, raw=declaration, place=tool.place_of(name))


def _tool(function: Members) -> Tool:
    schema = function.raw("parametersJsonSchema")
    extra = {}
    if schema is None and (parameters := function.raw("parameters")) is not None:
        place = function.place_of("parameters")
        schema, extra["parameters"] = to_json_schema(parameters, place), parameters
    return Tool(
        name=function.text("name") or "",
        description=function.text("description") or "",
        schema=schema,
        place=function.place,
        extra={**extra, **function.rest()},
    )


def _read_choice(members: Members, request: ChatRequest) -> None:
    """Which functions may be called. The vendor's words are kept whole for the vendor itself."""
    name = "toolConfig"
    request.extra |= {name: Raw(members.peek(name))} if name in members else {}
    config = members.members(name)
    if config is None:
        return
    calling = config.members("functionCallingConfig")
    if calling is not None:
        request.places["tool_choice"] = calling.place
        names = calling.texts("allowedFunctionNames") or []
        word = (calling.text("mode") or "AUTO").upper()
        mode = {"ANY": "any", "NONE": "none"}.get(word, "auto")
        request.tool_choice = ToolChoice(mode, tuple(names))  # type: ignore[arg-type]
        calling.rest()
    config.rest()


def _read_filters(members: Members, request: ChatRequest) -> None:
    """Safety settings that filter nothing are what other vendors do anyway."""
    name = "safetySettings"
    if name not in members:
        return
    request.extra[name] = Raw(members.peek(name))
    thresholds = [setting.text("threshold") for setting in members.objects(name)]
    if any(threshold not in _NO_FILTER for threshold in thresholds):
        request.unread.append(name)
