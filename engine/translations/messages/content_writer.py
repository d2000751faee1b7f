"""Neutral blocks -> the content of messages."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

from engine.translations.messages.answer_fields import NAME, write_reasoning
from engine.translations.neutral import content as neutral
from engine.translations.neutral.calls import ToolNames, call_id, sent_arguments
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.losses import Losses
from engine.values.trees import Json

_TEXT = {"type", "text"}


class ContentWriter:
    def __init__(self, names: ToolNames, losses: Losses) -> None:
        self._names, self._losses = names, losses
        self.marks = 0

    def content(self, blocks: Sequence[neutral.Block], *, marks: bool = True) -> Any:
        """A text where it is nothing else, or the blocks, with `marks` for the prompt cache."""
        if len(blocks) == 1 and _is_plain(block := blocks[0]):  # nearly always
            return block.text
        contents = []
        for block in blocks:
            content = _WRITERS[type(block)](self, block)
            if content is None:
                continue
            if marks and (cache := neutral.mark_of(block)):
                neutral.mark(content, cache)
                self.marks += 1
            contents.append(content)
        only = contents[0] if len(contents) == 1 else None
        return only["text"] if type(only) is dict and only.keys() == _TEXT else contents

    def _text(self, block: neutral.Text | neutral.Refusal) -> Json | None:
        # An empty text is an error to the vendor, and says nothing.
        return {"type": "text", "text": block.text} if block.text.strip() else None

    def _media(self, block: neutral.Media) -> Json | None:
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
        if block.detail:
            self._losses.add_detail(block)
        return media

    def _image_source(self, block: neutral.Media) -> Json | str:
        source = block.source
        if isinstance(source, neutral.Inline):
            if source.media_type not in neutral.IMAGE_TYPES:
                return "images are JPEG, PNG, GIF or WebP"
            return {"type": "base64", "media_type": source.media_type, "data": source.data}
        if isinstance(source, neutral.PlainText):
            return "an image cannot be given as text"
        return _reference(source)

    def _document_source(self, block: neutral.Media) -> Json | str:
        source = block.source
        if isinstance(source, neutral.PlainText):
            return _plain_text(source.text)
        if not isinstance(source, neutral.Inline):
            return _reference(source)
        if source.media_type == "application/pdf":
            return {"type": "base64", "media_type": source.media_type, "data": source.data}
        if source.media_type.startswith("text/") or source.media_type == "application/json":
            try:
                return _plain_text(base64.b64decode(source.data, validate=True).decode())
            except (binascii.Error, UnicodeDecodeError) as error:
                raise WrongType(block.place, "a text in UTF-8 as base64") from error
        return "documents are PDF or text"

    def _reasoning(self, block: neutral.Reasoning) -> Json | None:
        signature = block.signature
        if signature is None or signature.language != NAME:
            reason = "thoughts without a signature of this vendor are refused"
            self._losses.add(block.place, reason, hint=True)
            return None
        return write_reasoning(block.text, signature)

    def _call(self, block: neutral.ToolCall) -> Json:
        return {
            "type": "tool_use",
            "id": call_id(block.id),
            "name": self._names.legal(block.name),
            "input": sent_arguments(block),
        }

    def _result(self, block: neutral.ToolResult) -> Json:
        result: Json = {"type": "tool_result", "tool_use_id": call_id(block.id)}
        if block.content:
            # The vendor takes marks on whole results only.
            result["content"] = self.content(block.content, marks=False)
        if block.is_error:
            result["is_error"] = True
        return result

    def _foreign(self, block: neutral.Foreign) -> None:
        self._losses.add_block(block, f"only another vendor has '{block.kind}' blocks")


_WRITERS: dict[type[neutral.Block], Callable[[ContentWriter, Any], Any]] = {
    neutral.Text: ContentWriter._text,
    neutral.Refusal: ContentWriter._text,
    neutral.Media: ContentWriter._media,
    neutral.Reasoning: ContentWriter._reasoning,
    neutral.ToolCall: ContentWriter._call,
    neutral.ToolResult: ContentWriter._result,
    neutral.Foreign: ContentWriter._foreign,
}


def _is_plain(block: neutral.Block) -> TypeGuard[neutral.Text]:
    return type(block) is neutral.Text and not block.cache and block.text.strip() != ""


def _reference(source: neutral.Link | neutral.UploadedFile) -> Json | str:
    """The source of content outside of the request, or the reason why there is none."""
    if isinstance(source, neutral.UploadedFile):
        return neutral.UPLOADED
    return {"type": "url", "url": source.url} if source.is_web else neutral.NOT_WEB


def _plain_text(text: str) -> Json:
    return {"type": "text", "media_type": "text/plain", "data": text}
