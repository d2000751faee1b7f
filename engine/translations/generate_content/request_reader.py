"""Generate content requests -> the neutral form."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Raw

from engine.dialects.interface.streams import alt_is_sse
from engine.translations.generate_content import request_shapes as shapes
from engine.translations.generate_content.content_reader import ContentReader
from engine.translations.generate_content.part_fields import NAME, Fields
from engine.translations.generate_content.schemas import to_json_schema
from engine.translations.neutral import content as neutral
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.language import RequestLine
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
    read_numbers,
)
from engine.translations.neutral.request_json import present

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


def read_config(config: shapes.ConfigObject, request: ChatRequest) -> None:
    _read_sampling(config, request)
    _read_output(config, request)
    if config.thinking_config is not None:
        _read_thinking(config.thinking_config, request)
    modalities = present(config.response_modalities)
    if modalities is not None and bytes(modalities).upper().replace(b" ", b"") != b'["TEXT"]':
        request.unread.append(f"{_PLACE}.responseModalities")


def _read_sampling(config: shapes.ConfigObject, request: ChatRequest) -> None:
    request.max_tokens = config.max_output_tokens
    request.candidates = config.candidate_count
    read_numbers(config, request)
    request.stop = config.stop_sequences or []
    request.logprobs = config.response_logprobs or False
    request.top_logprobs = config.logprobs


def _read_output(config: shapes.ConfigObject, request: ChatRequest) -> None:
    """The form of the answer. No other vendor answers with a bare word of an enumeration."""
    kind = config.response_mime_type or "text/plain"
    schema, older = present(config.response_json_schema), present(config.older_json_schema)
    if schema is not None and older is not None:
        request.unread.append(f"{_PLACE}._responseJsonSchema")
    schema = schema or older
    if (vendor_schema := present(config.response_schema)) is not None:
        if schema is not None:
            request.unread.append(f"{_PLACE}.responseSchema")
        schema = schema or to_json_schema(vendor_schema, f"{_PLACE}.responseSchema")
    if kind == _JSON and schema is not None:
        request.output = OutputFormat(kind="json_schema", schema=schema)
    elif kind == _JSON:
        request.output = any_object()
    elif kind != "text/plain":
        request.unread.append(f"{_PLACE}.responseMimeType")


def _read_thinking(config: shapes.ThinkingConfig, request: ChatRequest) -> None:
    budget, level = config.thinking_budget, (config.thinking_level or "").lower()
    if budget == 0 and level not in ("", "minimal", "thinking_level_unspecified"):
        request.unread.append(f"{_PLACE}.thinkingConfig.thinkingLevel")
    request.thinking = Thinking(
        off=budget == 0,
        effort="" if level == "thinking_level_unspecified" else level,
        budget=budget if budget is not None and budget > 0 else None,
        adaptive=budget == -1,
        visible=config.include_thoughts or False,
    )


_UNFILTERED = ("BLOCK_NONE", "OFF", "HARM_BLOCK_THRESHOLD_UNSPECIFIED")
_SEARCH = "googleSearch"
_CACHE = "cachedContent"
_NOT_STORED = ("store", Raw(b"false"))
"""A member that asks for nothing: no target is told to store."""


def read_request(body: bytes, line: RequestLine) -> ChatRequest:
    """A request; the URL names the model and says whether a stream is wanted. Raises WrongType."""
    unread: list[str] = []
    members = shapes.RequestObject.read(body, "", unread)
    reader = ContentReader(unread)
    messages = _messages(members, reader)
    system = _system(members, reader)
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
    )
    _read_choice(members.tool_config, request)
    if members.generation_config is not None:
        read_config(members.generation_config, request)
    _read_filters(members.safety_settings, request)
    unread += (name for name, raw in members.extra.items() if (name, raw) != _NOT_STORED)
    if _CACHE in members.extra:
        instead = "Send the contents, the instruction and the tools that the cache holds."
        request.missing_turns.append(MissingTurns(_CACHE, instead))
    return request


def _messages(members: shapes.RequestObject, reader: ContentReader) -> list[Message]:
    """The turns; one alone may stand for the list of them."""
    contents = members.contents
    if isinstance(contents, shapes.ContentObject):
        return [reader.message(contents, "contents")]
    return [reader.message(each, f"contents[{index}]") for index, each in enumerate(contents or ())]


def _system(members: shapes.RequestObject, reader: ContentReader) -> list[neutral.Text]:
    """The instructions. The vendor ignores the role of their content."""
    name, content = "systemInstruction", members.system_instruction
    if content is None:
        return []
    if isinstance(content, str):
        return [neutral.Text(text=content, place=name)]
    texts = []
    for block in reader.blocks(content, name):
        if not isinstance(block, neutral.Text):
            raise WrongType(name, "text")
        texts.append(block)
    return texts


def _tools(members: shapes.RequestObject, unread: list[str]) -> Iterator[Tool | BuiltInTool]:
    for index, tool in enumerate(members.tools or ()):
        place = f"tools[{index}]"
        for at, function in enumerate(tool.function_declarations or ()):
            yield _tool(function, f"{place}.functionDeclarations[{at}]", unread)
        if (raw := present(tool.google_search)) is not None:
            where = f"{place}.{_SEARCH}"
            Fields(raw, where, unread).rest()  # only this vendor has its options
            yield BuiltInTool(name=_SEARCH, kind="web_search", place=where)
        for name in tool.extra:
            yield BuiltInTool(name=name, place=f"{place}.{name}")


def _tool(function: shapes.FunctionDeclaration, place: str, unread: list[str]) -> Tool:
    schema = present(function.parameters_json_schema)
    name, json_name = "parameters", "parametersJsonSchema"
    if (parameters := present(function.parameters)) is not None:
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
    )


def _read_choice(raw: Raw, request: ChatRequest) -> None:
    if present(raw) is None:
        return
    config = Fields(raw, "toolConfig", request.unread)
    if (calling := config.members("functionCallingConfig")) is not None:
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
    settings = Fields({name: raw}).objects(name)
    if any(setting.text("threshold") not in _UNFILTERED for setting in settings):
        request.unread.append(name)
