"""The items of responses requests -> messages."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Raw

from engine.translations.neutral.cache_marks import read_cache_mark
from engine.translations.neutral.content import (
    Block,
    Extra,
    Foreign,
    Inline,
    Media,
    Reasoning,
    Refusal,
    Source,
    Text,
    ToolCall,
    ToolResult,
    UploadedFile,
)
from engine.translations.neutral.members import Members
from engine.translations.neutral.request import ChatRequest, Message, Role
from engine.translations.neutral.shapes import read_shape
from engine.translations.openai_request_fields import read_file_data, read_url
from engine.translations.responses.answer_fields import (
    NAME,
    read_citations,
    read_signature,
    thoughts,
)
from engine.translations.responses.answer_shapes import ANNOTATIONS
from engine.translations.responses.caller_tools import (
    SEARCH,
    function_name,
    names_of,
    read_tools,
    text_arguments,
)

PART = "content."
"""Begins the kind of a part of a message that only this language has."""

_ROLES: dict[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}


def read_item(raw: Raw, item: Members, request: ChatRequest) -> Message:
    """A message of one item; tools that it declares are noted in the request. Raises WrongType."""
    kind = item.text("type") or ("item_reference" if "role" not in item else "message")
    if kind == "message":
        return _message(item)
    role: Role = "user" if kind.endswith("_output") else "assistant"
    read = _ITEMS.get(kind)
    if read is not None and "namespace" not in item:
        block = read(item)
    else:
        substitute = _substitute(kind, item, request)
        block = Foreign(language=NAME, kind=kind, raw=raw, substitute=substitute, place=item.place)
    return Message(role=role, blocks=[block], place=item.place)


def _message(item: Members) -> Message:
    role = _ROLES.get(item.text("role") or "")
    if role is None:
        raise item.wrong("role", "user, assistant, system or developer")
    blocks = _content(item, "content")
    marks = _marks(item, "id", "status", "phase")
    return Message(role=role, blocks=blocks, place=item.place, extra={**marks, **item.rest()})


def _content(item: Members, name: str) -> list[Block]:
    place = item.place_of(name)
    if item.is_text(name):
        return [Text(text=item.text(name) or "", place=place)]
    return [
        _part(raw, item.child(raw, f"{place}[{index}]"))
        for index, raw in enumerate(item.items(name) or ())
    ]


def _part(raw: Raw, part: Members) -> Block:
    kind = part.text("type") or ""
    read = _PARTS.get(kind)
    if read is None:
        return Foreign(language=NAME, kind=PART + kind, raw=raw, place=part.place)
    block = read(part)
    block.cache = read_cache_mark(part)
    block.place, block.extra = part.place, {**block.extra, **part.rest()}
    return block


def _read_text(part: Members) -> Block:
    extra = _marks(part, "logprobs")
    if "annotations" in part:
        extra["annotations"] = Raw(part.peek("annotations"))
    place = part.place_of("annotations")
    annotations = read_shape(ANNOTATIONS, part.raw("annotations") or b"null", place)
    citations = read_citations(annotations)
    return Text(text=part.text("text") or "", citations=citations, extra=extra)


def _read_refusal(part: Members) -> Block:
    return Refusal(text=part.text("refusal") or "")


def _read_image(part: Members) -> Block:
    url = part.text("image_url")
    source = _uploaded(part) if url is None else read_url(url, part.place_of("image_url"))
    return Media(kind="image", source=source, detail=part.text("detail") or "")


def _read_file(part: Members) -> Block:
    url, data = part.text("file_url"), part.text("file_data")
    source: Source
    if url is not None:
        source = read_url(url, part.place_of("file_url"))
    elif data is not None:
        source = read_file_data(data, part.place_of("file_data"))
    else:
        source = _uploaded(part)
    return Media(kind="document", source=source, name=part.text("filename") or "")


def _read_audio(part: Members) -> Block:
    audio = part.members("input_audio")
    if audio is None:
        raise part.wrong("input_audio", "an object")
    source = Inline(f"audio/{_text(audio, 'format')}", _text(audio, "data"))
    audio.rest()
    return Media(kind="audio", source=source)


def _uploaded(part: Members) -> UploadedFile:
    return UploadedFile(_text(part, "file_id"), NAME)


_PARTS: dict[str, Callable[[Members], Block]] = {
    **dict.fromkeys(("input_text", "output_text", "text", "summary_text"), _read_text),
    "refusal": _read_refusal,
    "input_image": _read_image,
    "input_file": _read_file,
    "input_audio": _read_audio,
}


def _call(item: Members) -> ToolCall:
    block = ToolCall(
        id=_text(item, "call_id"),
        name=_text(item, "name"),
        arguments=item.text("arguments") or "",
        place=item.place,
    )
    block.extra = {**_marks(item, "id", "status", "parsed_arguments"), **item.rest()}
    return block


def _substitute(kind: str, item: Members, request: ChatRequest) -> Block | None:
    """The block that tells another vendor's model the same as an item of this language alone."""
    if kind == "function_call":
        group = item.text("namespace") or ""
        call = _call(item)
        call.name = function_name(group, call.name)
        return call
    if kind == "custom_tool_call":
        group = item.text("namespace") or ""
        arguments = text_arguments(item.text("input") or "")
        call = _call(item)
        call.name, call.arguments = function_name(group, call.name), arguments
        return call
    if kind == "custom_tool_call_output":
        return _result(item)
    if item.peek("execution") != b'"client"':
        return None
    if kind == "tool_search_call":
        return _search_call(item)
    if kind == "tool_search_output":
        tools = read_tools(item, request, "tools")
        request.loaded_tools += tools
        _marks(item, "execution")
        result = _result(item)
        result.content = [Text(text=names_of(tools), place=item.place)]
        return result
    return None


def _search_call(item: Members) -> ToolCall:
    arguments = bytes(item.raw("arguments") or b"{}").decode()
    call = ToolCall(id=_text(item, "call_id"), name=SEARCH, arguments=arguments, place=item.place)
    _marks(item, "id", "status", "execution")
    call.extra = item.rest()
    return call


def _result(item: Members) -> ToolResult:
    block = ToolResult(
        id=_text(item, "call_id"), content=_content(item, "output"), place=item.place
    )
    block.extra = {**_marks(item, "id", "status", "name"), **item.rest()}
    return block


def _reasoning(item: Members) -> Block:
    item_id = item.text("id") or ""
    signature = read_signature(item.text("encrypted_content") or "", item_id)
    text = thoughts(_texts(item, "summary"), _texts(item, "content"))
    block = Reasoning(text=text, signature=signature, id=item_id, place=item.place)
    block.extra = {**_marks(item, "status"), **item.rest()}
    return block


def _texts(item: Members, name: str) -> list[str]:
    return [part.text("text") or "" for part in item.objects(name)]


_ITEMS: dict[str, Callable[[Members], Block]] = {
    "function_call": _call,
    "function_call_output": _result,
    "reasoning": _reasoning,
}


def _text(members: Members, name: str) -> str:
    """A member that is required."""
    text = members.text(name)
    if not text:
        raise members.wrong(name, "a string that is not empty")
    return text


def _marks(item: Members, *names: str) -> Extra:
    """The vendor's marks on an item that it has made; they mean nothing to another vendor."""
    return {name: raw for name in names if (raw := item.raw(name)) is not None}
