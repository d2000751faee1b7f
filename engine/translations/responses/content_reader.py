"""The parts of messages and results in responses requests -> blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw

from engine.translations.neutral.content import (
    Block,
    Extra,
    Foreign,
    Inline,
    Media,
    Refusal,
    Source,
    Text,
    UploadedFile,
    read_cache_mark,
)
from engine.translations.neutral.members import WrongType
from engine.translations.neutral.objects import JsonObject, UnknownObject, raw_members
from engine.translations.neutral.shapes import read_shape
from engine.translations.openai_request_fields import read_file_data, read_url
from engine.translations.responses.answer_fields import NAME, read_citations
from engine.translations.responses.answer_shapes import Annotation
from engine.translations.responses.request_shapes import (
    AudioPart,
    Content,
    FilePart,
    ImagePart,
    InputTextPart,
    OutputTextPart,
    Part,
    RefusalPart,
    SummaryTextPart,
    TextPart,
)

PART = "content."
"""Begins the kind of a part of a message that only this language has."""

_ANNOTATIONS = msgspec.json.Decoder(list[Annotation] | None)


def read_content(content: Content, place: str, unread: list[str]) -> list[Block]:
    """The blocks of a content at `place`; `unread` collects the places of what is not read."""
    if content is None:
        return []
    if isinstance(content, str):
        return [Text(text=content, place=place)]
    return [_part(part, f"{place}[{index}]", unread) for index, part in enumerate(content)]


def _part(part: Part, place: str, unread: list[str]) -> Block:
    block = _PARTS[type(part)](part, place, unread)
    if part.extra and not isinstance(block, Foreign):
        block.cache = read_cache_mark(part.extra)
        block.extra = {**block.extra, **part.extra}
    return block


_answer_members = raw_members("logprobs", "annotations")


def _read_text(part: TextPart, place: str, unread: list[str]) -> Block:
    text = Text(text=part.text or "", place=place)
    if part.annotations or part.logprobs:
        annotations = read_shape(_ANNOTATIONS, part.annotations or b"null", f"{place}.annotations")
        text.citations = read_citations(annotations)
        text.extra = _answer_members(part)
    return text


def _read_image(part: ImagePart, place: str, unread: list[str]) -> Block:
    extra: Extra = {}
    if part.image_url is None:
        source: Source = _uploaded(part.file_id, place)
    else:
        source = read_url(part.image_url, f"{place}.image_url")
        extra = _unused(part, ("file_id",), place, unread)
    detail = part.detail or ""
    return Media(kind="image", source=source, detail=detail, place=place, extra=extra)


def _read_file(part: FilePart, place: str, unread: list[str]) -> Block:
    extra: Extra = {}
    name = part.filename or ""
    if part.file_url is not None:
        source = read_url(part.file_url, f"{place}.file_url")
        extra = _unused(part, ("file_data", "file_id"), place, unread)
    elif part.file_data is not None:
        source = read_file_data(part.file_data, name, f"{place}.file_data")
        extra = _unused(part, ("file_id",), place, unread)
    else:
        source = _uploaded(part.file_id, place)
    return Media(kind="document", source=source, name=name, place=place, extra=extra)


def _unused(part: JsonObject, names: tuple[str, ...], place: str, unread: list[str]) -> Extra:
    """Members that say again, in another way, where the content is."""
    values = {name: value for name in names if (value := getattr(part, name)) is not None}
    unread.extend(f"{place}.{name}" for name in values)
    return {name: Raw(msgspec.json.encode(value)) for name, value in values.items()}


def _read_audio(part: AudioPart, place: str, unread: list[str]) -> Block:
    audio, where = part.input_audio, f"{place}.input_audio"
    kind = required(audio.format, f"{where}.format")
    source = Inline(f"audio/{kind}", required(audio.data, f"{where}.data"))
    return Media(kind="audio", source=source, place=place)


def _uploaded(file_id: str | None, place: str) -> UploadedFile:
    return UploadedFile(required(file_id, f"{place}.file_id"), NAME)


_PARTS: dict[type[JsonObject], Callable[[Any, str, list[str]], Block]] = {
    **dict.fromkeys((InputTextPart, OutputTextPart, TextPart, SummaryTextPart), _read_text),
    RefusalPart: lambda part, place, unread: Refusal(text=part.refusal or "", place=place),
    ImagePart: _read_image,
    FilePart: _read_file,
    AudioPart: _read_audio,
    UnknownObject: lambda part, place, unread: Foreign(
        language=NAME, kind=PART + (part.kind or ""), raw=part.raw, place=place
    ),
}


def required(text: str | None, place: str) -> str:
    """A member at `place` that is required."""
    if not text:
        raise WrongType(place, "a string that is not empty")
    return text
