"""Neutral blocks -> the content of messages."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

from engine.translations.messages.answer_fields import NAME, write_reasoning
from engine.translations.neutral.calls import ToolNames, arguments_object, call_id
from engine.translations.neutral.content import (
    NOT_WEB,
    Block,
    Foreign,
    Inline,
    Json,
    Link,
    Media,
    PlainText,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    UploadedFile,
    mark,
    mark_of,
)
from engine.translations.neutral.limits import Losses
from engine.translations.neutral.members import WrongType

_IMAGES = {
    "/9j/": "image/jpeg",
    "iVBORw0KGgo": "image/png",
    "R0lGOD": "image/gif",
    "UklGR": "image/webp",
}
"""The media types of images by the beginnings of their base64: callers often name another."""


_TEXT = {"type", "text"}


class ContentWriter:
    """Writes the content of one request. `same_language`: the caller speaks this language, so that
    everything is written back as it came."""

    def __init__(self, names: ToolNames, losses: Losses, *, same_language: bool) -> None:
        self._names, self._losses, self._same_language = names, losses, same_language
        self.marks = 0
        """How many blocks are marked for the prompt cache."""

    def content(self, blocks: Sequence[Block], *, marks: bool = True) -> Any:
        """The value of `content`: a text where it is nothing else, or the blocks that this language
        can say, with their `marks` for the prompt cache; the others are losses."""
        if len(blocks) == 1 and self._is_plain(block := blocks[0]):  # nearly always
            return block.text
        contents = []
        for block in blocks:
            content = _WRITERS[type(block)](self, block)
            if content is None:
                continue
            if marks and (cache := mark_of(block)) and not self._same_language:
                mark(content, cache)
                self.marks += 1
            contents.append(content)
        only = contents[0] if len(contents) == 1 else None
        return only["text"] if type(only) is dict and only.keys() == _TEXT else contents

    def _is_plain(self, block: Block) -> TypeGuard[Text]:
        """Whether a block is no more than its text."""
        if type(block) is not Text or block.cache:
            return False
        return not block.extra if self._same_language else block.text.strip() != ""

    def _text(self, block: Text | Refusal) -> Json | None:
        if self._same_language:
            return {"type": "text", "text": block.text, **block.extra}
        # An empty text is an error to the vendor, and says nothing.
        return {"type": "text", "text": block.text} if block.text.strip() else None

    def _media(self, block: Media) -> Json | None:
        source: Json | str
        if block.kind == "image":
            source = self._image_source(block)
        elif block.kind == "document":
            source = self._document_source(block)
        else:
            source = f"the model takes no {block.kind}"
        if isinstance(source, str):
            self._losses.add(block.place, source)
            return None
        media: Json = {"type": block.kind, "source": source}
        if block.kind == "document" and block.name:
            media["title"] = block.name
        if block.detail not in ("", "auto"):
            self._losses.add(f"{block.place}.detail", "every image is looked at alike", hint=True)
        return {**media, **block.extra} if self._same_language else media

    def _image_source(self, block: Media) -> Json | str:
        """The source of an image, or the reason why there is none."""
        source = block.source
        if isinstance(source, Inline):
            media_type = source.media_type
            if not self._same_language:
                types = (kind for head, kind in _IMAGES.items() if source.data.startswith(head))
                media_type = next(types, media_type)
                if media_type not in _IMAGES.values():
                    return "images are JPEG, PNG, GIF or WebP"
            return {"type": "base64", "media_type": media_type, "data": source.data}
        if isinstance(source, PlainText):
            return "an image is no text"
        return self._reference(source)

    def _document_source(self, block: Media) -> Json | str:
        """The source of a document, or the reason why there is none."""
        source = block.source
        if isinstance(source, PlainText):
            return _plain_text(source.text)
        if not isinstance(source, Inline):
            return self._reference(source)
        if source.media_type == "application/pdf" or self._same_language:
            return {"type": "base64", "media_type": source.media_type, "data": source.data}
        if source.media_type.startswith("text/") or source.media_type == "application/json":
            try:
                return _plain_text(base64.b64decode(source.data, validate=True).decode())
            except (binascii.Error, UnicodeDecodeError) as error:
                raise WrongType(block.place, "a text in UTF-8 as base64") from error
        return "documents are PDF or text"

    def _reference(self, source: Link | UploadedFile) -> Json | str:
        if isinstance(source, UploadedFile):
            if source.language != NAME:
                return "the file was uploaded to another vendor"
            return {"type": "file", "file_id": source.id}
        if not (self._same_language or source.is_web):
            return NOT_WEB
        return {"type": "url", "url": source.url}

    def _reasoning(self, block: Reasoning) -> Json | None:
        signature = block.signature
        if self._same_language:
            return {**write_reasoning(block.text, signature), **block.extra}
        if signature is None or signature.language != NAME:
            reason = "thoughts without a signature of this vendor are refused"
            self._losses.add(block.place, reason, hint=True)
            return None
        return write_reasoning(block.text, signature)

    def _call(self, block: ToolCall) -> Json:
        call: Json = {
            "type": "tool_use",
            "id": block.id if self._same_language else call_id(block.id),
            "name": block.name if self._same_language else self._names.legal(block.name),
            "input": arguments_object(block),
        }
        return {**call, **block.extra} if self._same_language else call

    def _result(self, block: ToolResult) -> Json:
        result: Json = {
            "type": "tool_result",
            "tool_use_id": block.id if self._same_language else call_id(block.id),
        }
        if block.content:
            # The vendor takes marks on whole results only.
            result["content"] = self.content(block.content, marks=False)
        if block.is_error:
            result["is_error"] = True
        return {**result, **block.extra} if self._same_language else result

    def _foreign(self, block: Foreign) -> Any:
        if block.language == NAME:
            return block.raw
        self._losses.add(block.place, f"'{block.kind}' is known to another vendor only")
        return None


_WRITERS: dict[type[Block], Callable[[ContentWriter, Any], Any]] = {
    Text: ContentWriter._text,
    Refusal: ContentWriter._text,
    Media: ContentWriter._media,
    Reasoning: ContentWriter._reasoning,
    ToolCall: ContentWriter._call,
    ToolResult: ContentWriter._result,
    Foreign: ContentWriter._foreign,
}


def _plain_text(text: str) -> Json:
    return {"type": "text", "media_type": "text/plain", "data": text}
