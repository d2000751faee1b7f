"""Generate content requests -> the neutral form."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Raw

from engine.dialects.interface.streams import alt_is_sse
from engine.translations.generate_content.content_reader import ContentReader
from engine.translations.generate_content.fields import NAME, Fields
from engine.translations.generate_content.request_shapes import (
    ConfigObject,
    ContentObject,
    FunctionDeclaration,
    RequestObject,
)
from engine.translations.generate_content.schemas import to_json_schema
from engine.translations.language import RequestLine
from engine.translations.neutral.content import Extra, Text
from engine.translations.neutral.members import Members, WrongType, extra_inside
from engine.translations.neutral.objects import ObjectReader, present, raw_members
from engine.translations.neutral.request import (
    BuiltInTool,
    ChatRequest,
    Message,
    MissingTurns,
    OutputFormat,
    Thinking,
    Tool,
    ToolChoice,
    any_object,
)

_JSON = "application/json"
_PLACE = "generationConfig"
_PLACES = {
    "messages": "contents",
    "max_tokens": f"{_PLACE}.maxOutputTokens",
    "candidates": f"{_PLACE}.candidateCount",
    "temperature": f"{_PLACE}.temperature",
    "top_p": f"{_PLACE}.topP",
    "top_k": f"{_PLACE}.topK",
    "seed": f"{_PLACE}.seed",
    "presence_penalty": f"{_PLACE}.presencePenalty",
    "frequency_penalty": f"{_PLACE}.frequencyPenalty",
    "stop": f"{_PLACE}.stopSequences",
    "logprobs": f"{_PLACE}.responseLogprobs",
    "top_logprobs": f"{_PLACE}.logprobs",
    "output": f"{_PLACE}.responseMimeType",
    "schema": f"{_PLACE}.responseJsonSchema",
    "thinking": f"{_PLACE}.thinkingConfig",
}
"""Where the parameters of the neutral form stand."""

_vendor_members = raw_members(
    response_mime_type="responseMimeType",
    response_schema="responseSchema",
    response_json_schema="responseJsonSchema",
    older_json_schema="_responseJsonSchema",
    thinking_config="thinkingConfig",
    response_modalities="responseModalities",
)
"""Members that are also kept as they came."""


def read_config(config: ConfigObject, request: ChatRequest) -> None:
    """Read the member `generationConfig` of a request."""
    _read_sampling(config, request)
    extra = config.extra
    if vendor_members := _vendor_members(config):
        form = Fields(dict(vendor_members), _PLACE, request.unread)
        _read_output(form, request)
        _read_thinking(form, request)
        _read_modalities(form)
        form.rest()
        extra = {**vendor_members, **extra}
    if extra:
        request.extra[_PLACE] = Raw(msgspec.json.encode(extra))


def _read_sampling(config: ConfigObject, request: ChatRequest) -> None:
    request.max_tokens = config.max_output_tokens
    request.candidates = config.candidate_count
    request.temperature = present(config.temperature)
    request.top_p = present(config.top_p)
    request.top_k = present(config.top_k)
    request.seed = present(config.seed)
    request.presence_penalty = present(config.presence_penalty)
    request.frequency_penalty = present(config.frequency_penalty)
    request.stop = config.stop_sequences or []
    request.logprobs = config.response_logprobs or False
    request.top_logprobs = config.logprobs


def _read_output(config: Members, request: ChatRequest) -> None:
    """The form of the answer. No other vendor answers with a bare word of an enumeration."""
    name = "responseMimeType"
    kind = config.text(name) or "text/plain"
    schema = config.raw("responseJsonSchema") or config.raw("_responseJsonSchema")
    vendor_name = "responseSchema"
    vendor_schema = config.raw(vendor_name)
    if schema is None and vendor_schema is not None:
        schema = to_json_schema(vendor_schema, config.place_of(vendor_name))
    if kind == _JSON and schema is not None:
        request.output = OutputFormat(kind="json_schema", schema=schema)
    elif kind == _JSON:
        request.output = any_object()
    elif kind != "text/plain":
        request.unread.append(config.place_of(name))


def _read_thinking(config: Members, request: ChatRequest) -> None:
    thinking = config.members("thinkingConfig")
    if thinking is None:
        return
    budget = thinking.integer("thinkingBudget")
    level = (thinking.text("thinkingLevel") or "").lower()
    request.thinking = Thinking(
        off=budget == 0,
        effort="" if level == "thinking_level_unspecified" else level,
        budget=budget if budget is not None and budget > 0 else None,
        adaptive=budget == -1,
        visible=thinking.boolean("includeThoughts") or False,
    )
    thinking.rest()


def _read_modalities(config: Members) -> None:
    """Text is what every answer has."""
    name = "responseModalities"
    if config.peek(name).upper().replace(b" ", b"") == b'["TEXT"]':
        config.texts(name)


_NO_FILTER = ("BLOCK_NONE", "OFF")
_SEARCH = "googleSearch"
_CACHE = "cachedContent"
_REQUEST = ObjectReader(RequestObject)


def read_request(body: bytes, line: RequestLine) -> ChatRequest:
    """A request; the URL names the model and says whether a stream is wanted. Raises WrongType."""
    unread: list[str] = []
    members = _REQUEST.read(body, "", unread)
    reader = ContentReader(unread)
    messages = _messages(members, reader)
    system, extra = _system(members, reader)
    request = ChatRequest(
        language=NAME,
        model=line.model,
        messages=messages,
        system=system,
        stream=line.stream,
        as_list=line.stream and not alt_is_sse(line.query),
        tools=list(_tools(members, unread)),
        id=line.id,
        time=line.time,
        places=dict(_PLACES),
        unread=unread,
        extra=extra,
    )
    _read_choice(members.tool_config, request)
    if members.generation_config is not None:
        read_config(members.generation_config, request)
    _read_filters(members.safety_settings, request)
    unread.extend(members.extra)
    request.extra |= members.extra
    if _CACHE in members.extra:
        instead = "Send the contents, the instruction and the tools that the cache holds."
        request.missing_turns.append(MissingTurns(_CACHE, instead))
    return request


def _messages(members: RequestObject, reader: ContentReader) -> list[Message]:
    """The turns; one alone may stand for the list of them."""
    contents = members.contents
    if isinstance(contents, ContentObject):
        return [reader.message(contents, "contents")]
    return [reader.message(each, f"contents[{index}]") for index, each in enumerate(contents or ())]


def _system(members: RequestObject, reader: ContentReader) -> tuple[list[Text], Extra]:
    """The instructions, and what else their content says. The vendor ignores its role."""
    name, content = "systemInstruction", members.system_instruction
    if content is None:
        return [], {}
    if isinstance(content, str):
        return [Text(text=content, place=name)], {}
    texts = []
    for block in reader.blocks(content, name):
        if not isinstance(block, Text):
            raise WrongType(name, "text")
        texts.append(block)
    return texts, extra_inside(name, content.extra)


def _tools(members: RequestObject, unread: list[str]) -> Iterator[Tool | BuiltInTool]:
    for index, tool in enumerate(members.tools or ()):
        place = f"tools[{index}]"
        for at, function in enumerate(tool.function_declarations or ()):
            yield _tool(function, f"{place}.functionDeclarations[{at}]", unread)
        if (raw := present(tool.google_search)) is not None:
            search = _built_in(place, _SEARCH, raw)
            search.kind = "web_search"
            Fields(raw, search.place, unread).rest()  # only this vendor has its options
            yield search
        for name, raw in tool.extra.items():
            yield _built_in(place, name, raw)


def _built_in(place: str, name: str, raw: Raw) -> BuiltInTool:
    declaration = Raw(msgspec.json.encode({name: raw}))
    return BuiltInTool(language=NAME, name=name, raw=declaration, place=f"{place}.{name}")


def _tool(function: FunctionDeclaration, place: str, unread: list[str]) -> Tool:
    schema, extra = present(function.parameters_json_schema), function.extra
    name, json_name = "parameters", "parametersJsonSchema"
    if (parameters := present(function.parameters)) is not None:
        extra = {name: parameters, **extra}
        if schema is None:
            json_name = name
            schema = to_json_schema(parameters, f"{place}.{name}")
        else:
            unread.append(f"{place}.{name}")
    return Tool(
        name=function.name or "",
        description=function.description or "",
        schema=schema,
        place=place,
        schema_member=json_name,
        extra=extra,
    )


def _read_choice(raw: Raw, request: ChatRequest) -> None:
    """Which functions may be called. The vendor's words are kept whole for the vendor itself."""
    name = "toolConfig"
    if present(raw) is None:
        return
    request.extra[name] = raw
    config = Fields(raw, name, request.unread)
    calling = config.members("functionCallingConfig")
    if calling is not None:
        request.places["tool_choice"] = calling.place
        names = calling.texts("allowedFunctionNames") or []
        word = (calling.text("mode") or "AUTO").upper()
        mode = {"ANY": "any", "NONE": "none"}.get(word, "auto")
        request.tool_choice = ToolChoice(mode, tuple(names))  # type: ignore[arg-type]
        calling.rest()
    config.rest()


def _read_filters(raw: Raw, request: ChatRequest) -> None:
    """Safety settings that filter nothing are what other vendors do anyway."""
    name = "safetySettings"
    if present(raw) is None:
        return
    request.extra[name] = raw
    settings = Fields({name: raw}).objects(name)
    if any(setting.text("threshold") not in _NO_FILTER for setting in settings):
        request.unread.append(name)
