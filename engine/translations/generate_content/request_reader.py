"""Generate content requests -> the neutral form."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qs

import msgspec
from msgspec import Raw

from engine.translations.generate_content.content_reader import ContentReader
from engine.translations.generate_content.fields import NAME, field
from engine.translations.generate_content.schemas import to_json_schema
from engine.translations.language import RequestLine
from engine.translations.neutral.content import Text
from engine.translations.neutral.members import Members
from engine.translations.neutral.request import (
    BuiltInTool,
    ChatRequest,
    OutputFormat,
    Thinking,
    Tool,
    ToolChoice,
)

_NO_FILTER = (b'"BLOCK_NONE"', b'"OFF"')


def read_request(body: bytes, line: RequestLine) -> ChatRequest:
    """A request; the URL names the model and says whether a stream is wanted. Raises WrongType."""
    unread: list[str] = []
    members = Members(body, "", unread)
    reader = ContentReader()
    sse = parse_qs(line.query).get("alt") == ["sse"]
    request = ChatRequest(
        language=NAME,
        model=line.model,
        messages=[reader.message(each) for each in members.objects("contents")],
        system=_system(members),
        stream=line.stream and sse,
        as_list=line.stream and not sse,
        id=line.id,
        time=line.time,
        unread=unread,
    )
    request.tools = list(_tools(members))
    _read_choice(members, request)
    members.text("model")  # where a body repeats it
    name = field(members, "generationConfig")
    config = members.members(name)
    if config is not None:
        _read_config(config, request)
        request.extra = {name: Raw(msgspec.json.encode(rest))} if (rest := config.rest()) else {}
    _forget_open_filters(members)
    request.extra |= members.rest()
    return request


def _system(members: Members) -> list[Text]:
    name = field(members, "systemInstruction")
    if members.is_text(name):
        return [Text(text=members.text(name) or "", place=name)]
    content = members.members(name)
    if content is None:
        return []
    content.text("role")
    message = ContentReader().message(content)
    for block in message.blocks:
        if not isinstance(block, Text):
            raise members.wrong(name, "text")
    return [block for block in message.blocks if isinstance(block, Text)]


def _tools(members: Members) -> Iterator[Tool | BuiltInTool]:
    for tool in members.objects("tools"):
        functions = field(tool, "functionDeclarations")
        for function in tool.objects(functions):
            yield _tool(function)
        for name, raw in tool.unread_members().items():
            kind = "web_search" if name in ("googleSearch", "google_search") else ""
            declaration = Raw(msgspec.json.encode({name: raw}))
            place = tool.place_of(name)
            yield BuiltInTool(language=NAME, name=name, raw=declaration, kind=kind, place=place)  # type: ignore[arg-type]


def _tool(function: Members) -> Tool:
    schema = function.raw(field(function, "parametersJsonSchema"))
    extra = {}
    if schema is None and (own := function.raw("parameters")) is not None:
        schema, extra["parameters"] = to_json_schema(own), own
    for name in ("response", "responseJsonSchema", "behavior"):
        if (raw := function.raw(field(function, name))) is not None:
            extra[name] = raw  # what a result looks like changes nothing for the model
    return Tool(
        name=function.text("name") or "",
        description=function.text("description") or "",
        schema=schema,
        place=function.place,
        extra={**extra, **function.rest()},
    )


def _read_choice(members: Members, request: ChatRequest) -> None:
    config = members.members(field(members, "toolConfig"))
    if config is None:
        return
    name = field(config, "functionCallingConfig")
    calling = config.members(name)
    if calling is not None:
        request.places["tool_choice"] = calling.place
        names = calling.texts(field(calling, "allowedFunctionNames")) or []
        native = (calling.text("mode") or "AUTO").upper()
        mode = {"ANY": "any", "NONE": "none"}.get(native, "auto")
        request.tool_choice = ToolChoice(mode, tuple(names), native)  # type: ignore[arg-type]
        calling.rest()
    config.rest()


def _read_config(config: Members, request: ChatRequest) -> None:
    def place(name: str, neutral: str) -> str:
        found = field(config, name)
        request.places[neutral] = config.place_of(found)
        return found

    request.max_tokens = config.integer(place("maxOutputTokens", "max_tokens"))
    request.candidates = config.integer(place("candidateCount", "candidates"))
    request.temperature = config.raw(place("temperature", "temperature"))
    request.top_p = config.raw(place("topP", "top_p"))
    request.top_k = config.raw(place("topK", "top_k"))
    request.seed = config.raw(place("seed", "seed"))
    request.presence_penalty = config.raw(place("presencePenalty", "presence_penalty"))
    request.frequency_penalty = config.raw(place("frequencyPenalty", "frequency_penalty"))
    request.stop = config.texts(place("stopSequences", "stop")) or []
    request.logprobs = config.boolean(place("responseLogprobs", "logprobs")) or False
    request.top_logprobs = config.integer(place("logprobs", "top_logprobs"))
    _read_output(config, request)
    _read_thinking(config, request)
    modalities = field(config, "responseModalities")
    if config.peek(modalities).upper().replace(b" ", b"") == b'["TEXT"]':
        config.texts(modalities)


def _read_output(config: Members, request: ChatRequest) -> None:
    name = field(config, "responseMimeType")
    kind = config.text(name) or "text/plain"
    request.places["output"] = config.place_of(name)
    schema = config.raw(field(config, "responseJsonSchema")) or config.raw("_responseJsonSchema")
    own = config.raw(field(config, "responseSchema"))
    if schema is None and own is not None:
        schema = to_json_schema(own)
    if kind == "text/x.enum" or (kind == "application/json" and schema is not None):
        request.output = OutputFormat(kind="json_schema", schema=schema)
    elif kind == "application/json":
        request.output = OutputFormat(kind="json")


def _read_thinking(config: Members, request: ChatRequest) -> None:
    name = field(config, "thinkingConfig")
    thinking = config.members(name)
    if thinking is None:
        return
    request.places["thinking"] = thinking.place
    budget = thinking.integer(field(thinking, "thinkingBudget"))
    level = (thinking.text(field(thinking, "thinkingLevel")) or "").lower()
    request.thinking = Thinking(
        off=budget == 0,
        effort=level.removeprefix("thinking_level_").replace("unspecified", ""),
        budget=budget if budget is not None and budget > 0 else None,
        adaptive=budget == -1,
        visible=thinking.boolean(field(thinking, "includeThoughts")),
    )
    thinking.rest()


def _forget_open_filters(members: Members) -> None:
    """Safety settings that filter nothing are what other vendors do anyway."""
    name = field(members, "safetySettings")
    settings = members.peek(name)
    if settings and settings.count(b'"threshold"') == sum(map(settings.count, _NO_FILTER)):
        members.raw(name)
