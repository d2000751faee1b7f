"""The content of messages -> neutral blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Raw

from engine.translations.messages.answer_fields import NAME, read_citation, read_signature
from engine.translations.messages.answer_shapes import Citation as CitationShape
from engine.translations.messages.request_shapes import (
    CallBlock,
    DocumentBlock,
    ImageBlock,
    RedactedBlock,
    ResultBlock,
    SourceObject,
    TextBlock,
    ThinkingBlock,
)
from engine.translations.neutral.content import (
    Block,
    Citation,
    Foreign,
    Inline,
    Link,
    Media,
    PlainText,
    Reasoning,
    Source,
    Text,
    ToolCall,
    ToolResult,
    UploadedFile,
    read_cache_mark,
)
from engine.translations.neutral.members import WrongType
from engine.translations.neutral.objects import JsonObject, UnknownObject, present
from engine.translations.neutral.shapes import read_shape

_EMPTY_OBJECT = b"{}"
_CITATIONS = msgspec.json.Decoder(list[CitationShape] | None)


def read_content(
    content: str | Sequence[JsonObject] | None, place: str, unread: list[str]
) -> list[Block]:
    """The blocks of a content at `place`; `unread` collects the places of what is not read."""
    if content is None:
        return []
    if isinstance(content, str):
        return [Text(text=content, place=place)]
    return [_read_block(each, f"{place}[{at}]", unread) for at, each in enumerate(content)]


def read_texts(content: str | list[TextBlock | UnknownObject] | None, place: str) -> list[Text]:
    """A content that is text alone, none of an empty one."""
    if isinstance(content, str):
        return [Text(text=content, place=place)] if content else []
    texts = []
    for index, block in enumerate(content or ()):
        where = f"{place}[{index}]"
        if isinstance(block, UnknownObject):
            raise WrongType(f"{where}.type", "text")
        texts.append(_read_text(block, where, []))
        texts[-1].cache = read_cache_mark(block.extra)
    return texts


def _read_block(each: JsonObject, place: str, unread: list[str]) -> Block:
    block = _READERS[type(each)](each, place, unread)
    if each.extra:
        block.cache = read_cache_mark(each.extra)
    return block


def _read_unknown(unknown: UnknownObject, place: str, unread: list[str]) -> Block:
    if unknown.kind is None:
        raise WrongType(f"{place}.type", "the type of a block")
    return Foreign(language=NAME, kind=unknown.kind, raw=unknown.raw, place=place)


def _read_text(block: TextBlock, place: str, unread: list[str]) -> Text:
    text = Text(text=block.text, place=place, extra=block.extra)
    if (citations := present(block.citations)) is not None:
        text.citations = _read_citations(citations, f"{place}.citations")
        # whole for the vendor that made them
        text.extra = {"citations": citations, **block.extra}
    return text


def _read_citations(raw: Raw, place: str) -> list[Citation]:
    citations = map(read_citation, read_shape(_CITATIONS, raw, place) or ())
    return [citation for citation in citations if citation is not None]


def _read_image(block: ImageBlock, place: str, unread: list[str]) -> Block:
    source = _read_source(block.source, place)
    if source is None:
        return Foreign(language=NAME, kind="image", raw=block.raw, place=place)
    return Media(kind="image", source=source, place=place, extra=block.extra)


def _read_document(block: DocumentBlock, place: str, unread: list[str]) -> Block:
    source = _read_source(block.source, place)
    if source is None:
        return Foreign(language=NAME, kind="document", raw=block.raw, place=place)
    if isinstance(source, Link):
        source = Link(source.url, "application/pdf")
    extra = block.extra
    citations = present(block.citations)
    if citations is not None and bytes(citations).replace(b" ", b"") != b'{"enabled":false}':
        extra = {"citations": citations, **extra}
        unread.append(f"{place}.citations")
    name = block.title or ""
    return Media(
        kind="document",
        source=source,
        name=name,
        name_place=f"{place}.title" if name else "",
        place=place,
        extra=extra,
    )


def _read_source(source: SourceObject, place: str) -> Source | None:
    """Where the image or the document at `place` is; None for a kind that only this vendor has."""
    data, url, media_type = source.data, source.url, source.media_type or ""
    if source.extra:
        return None
    if source.type == "base64" and data is not None:
        return Inline(media_type.lower(), data)
    if source.type == "text" and data is not None:
        return PlainText(data)
    if source.type == "url" and url is not None:
        return Link(url)
    if source.type == "file" and source.file_id is not None:
        return UploadedFile(source.file_id, NAME)
    if source.raw:
        return None
    raise WrongType(f"{place}.source", "a source with its data, url or file_id")


def _read_thinking(block: ThinkingBlock, place: str, unread: list[str]) -> Block:
    signature = read_signature(block.signature or "")
    text = block.thinking or ""
    return Reasoning(text=text, signature=signature, place=place, extra=block.extra)


def _read_redacted(block: RedactedBlock, place: str, unread: list[str]) -> Block:
    signature = read_signature(block.data or "", redacted=True)
    return Reasoning(signature=signature, place=place, extra=block.extra)


def _read_call(block: CallBlock, place: str, unread: list[str]) -> Block:
    return ToolCall(
        id=block.id or "",
        name=block.name or "",
        arguments=read_arguments(block.input, f"{place}.input"),
        place=place,
        extra=block.extra,
    )


def read_arguments(raw: Raw, place: str) -> str:
    """The arguments in the JSON text of `input`, empty for an object without members. Raises
    WrongType."""
    if present(raw) is None:
        return ""
    text = bytes(raw)
    if text[:1] != b"{":
        raise WrongType(place, "an object")
    return "" if text == _EMPTY_OBJECT else text.decode()


def _read_result(block: ResultBlock, place: str, unread: list[str]) -> Block:
    return ToolResult(
        id=block.tool_use_id or "",
        content=read_content(block.content, f"{place}.content", unread),
        is_error=block.is_error or False,
        place=place,
        extra=block.extra,
    )


_READERS: dict[type[JsonObject], Callable[[Any, str, list[str]], Block]] = {
    TextBlock: _read_text,
    ImageBlock: _read_image,
    DocumentBlock: _read_document,
    ThinkingBlock: _read_thinking,
    RedactedBlock: _read_redacted,
    CallBlock: _read_call,
    ResultBlock: _read_result,
    UnknownObject: _read_unknown,
}
