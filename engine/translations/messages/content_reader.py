"""The content of messages -> neutral blocks."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Raw

from engine.translations.messages.answer_fields import NAME, read_citation, read_signature
from engine.translations.neutral.cache_marks import read_cache_mark
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
)
from engine.translations.neutral.members import Members

_EMPTY_OBJECT = b"{}"


def read_content(members: Members) -> list[Block]:
    """The blocks of the member `content`, which is a text or a list."""
    place = members.place_of("content")
    if members.is_text("content"):
        return [Text(text=members.text("content") or "", place=place)]
    return [
        _read_block(raw, members.child(raw, f"{place}[{index}]"))
        for index, raw in enumerate(members.items("content") or ())
    ]


def read_texts(members: Members, name: str) -> list[Text]:
    """A member that is a text or a list of text blocks."""
    place = members.place_of(name)
    if members.is_text(name):
        text = members.text(name)
        return [Text(text=text, place=place)] if text else []
    texts = []
    for block in members.objects(name):
        if block.text("type") != "text":
            raise block.wrong("type", "text")
        texts.append(_read_text(block))
        texts[-1].cache = read_cache_mark(block)
    return texts


def _read_block(raw: Raw, members: Members) -> Block:
    kind = members.text("type")
    if kind is None:
        raise members.wrong("type", "the type of a block")
    read = _READERS.get(kind)
    block = None if read is None else read(members)
    block = block or Foreign(language=NAME, kind=kind, raw=raw, place=members.place)
    block.cache = read_cache_mark(members)
    return block


def _read_text(members: Members) -> Text:
    text = members.text("text")
    if text is None:
        raise members.wrong("text", "a string")
    citations = members.raw("citations")
    extra = members.rest()
    if citations is not None:  # whole for the vendor that made them
        extra = {"citations": citations, **extra}
    return Text(text=text, citations=_read_citations(citations), place=members.place, extra=extra)


def _read_citations(raw: Raw | None) -> list[Citation]:
    if raw is None:
        return []
    citations = map(read_citation, Members(Raw(b'{"c":' + bytes(raw) + b"}")).objects("c"))
    return [citation for citation in citations if citation is not None]


def _read_image(members: Members) -> Block | None:
    source = _read_source(members)
    if source is None:
        return None
    return Media(kind="image", source=source, place=members.place, extra=members.rest())


def _read_document(members: Members) -> Block | None:
    source = _read_source(members)
    if source is None:
        return None
    if isinstance(source, Link):
        source = Link(source.url, "application/pdf")
    if members.peek("citations").replace(b" ", b"") == b'{"enabled":false}':
        members.raw("citations")
    name = members.text("title") or ""
    return Media(
        kind="document",
        source=source,
        name=name,
        name_place=members.place_of("title") if name else "",
        place=members.place,
        extra=members.rest(),
    )


def _read_source(members: Members) -> Source | None:
    """Where an image or a document is; None for a kind that only this vendor has."""
    raw = members.raw("source")
    if raw is None:
        raise members.wrong("source", "an object")
    source = Members(raw, members.place_of("source"))
    kind = source.text("type")
    data, url = source.text("data"), source.text("url")
    media_type, file_id = source.text("media_type") or "", source.text("file_id")
    if source.rest():
        return None
    if kind == "base64" and data is not None:
        return Inline(media_type.lower(), data)
    if kind == "text" and data is not None:
        return PlainText(data)
    if kind == "url" and url is not None:
        return Link(url)
    if kind == "file" and file_id is not None:
        return UploadedFile(file_id, NAME)
    return None


def _read_thinking(members: Members) -> Block:
    return Reasoning(
        text=members.text("thinking") or "",
        signature=read_signature(members.text("signature") or ""),
        place=members.place,
        extra=members.rest(),
    )


def _read_redacted(members: Members) -> Block:
    return Reasoning(
        signature=read_signature(members.text("data") or "", redacted=True),
        place=members.place,
        extra=members.rest(),
    )


def _read_call(members: Members) -> Block:
    return ToolCall(
        id=members.text("id") or "",
        name=members.text("name") or "",
        arguments=read_arguments(members),
        place=members.place,
        extra=members.rest(),
    )


def read_arguments(members: Members) -> str:
    """The JSON text of `input`, empty for an object without members. Raises WrongType."""
    inner = members.peek("input")
    if not inner:
        return ""
    members.members("input")
    text = bytes(inner).strip()
    return "" if text == _EMPTY_OBJECT else text.decode()


def _read_result(members: Members) -> Block:
    return ToolResult(
        id=members.text("tool_use_id") or "",
        content=read_content(members),
        is_error=members.boolean("is_error") or False,
        place=members.place,
        extra=members.rest(),
    )


_READERS: dict[str, Callable[[Members], Block | None]] = {
    "text": _read_text,
    "image": _read_image,
    "document": _read_document,
    "thinking": _read_thinking,
    "redacted_thinking": _read_redacted,
    "tool_use": _read_call,
    "tool_result": _read_result,
}
