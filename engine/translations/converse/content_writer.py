"""Neutral blocks -> the content of messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.translations.converse.fields import NAME, Json, write_reasoning
from engine.translations.converse.media_writer import MediaWriter
from engine.translations.converse.models import Model
from engine.translations.neutral.arguments import arguments_object
from engine.translations.neutral.cache_marks import mark_of
from engine.translations.neutral.content import (
    Block,
    CacheMark,
    Foreign,
    Media,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
)
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.names import ToolNames, call_id

MOST_CACHE_POINTS = 4


class ContentWriter:
    """Writes the content of one request; what the vendor has no block for is a loss."""

    def __init__(self, names: ToolNames, losses: Losses, model: Model) -> None:
        self._names, self._losses, self._model = names, losses, model
        self._media_writer = MediaWriter(losses, model.media)

    def system(self, blocks: Sequence[Block]) -> list[Json]:
        """The instructions at the beginning."""
        return self._blocks(blocks, marks="system" in self._model.caches)

    def turn(self, blocks: Sequence[Block], role: str) -> list[Json]:
        """The content of a turn; only users may send media."""
        if role == "assistant":
            for block in blocks:
                if isinstance(block, Media):
                    self._losses.add(block.place, "a model's turn has no media")
            blocks = [block for block in blocks if not isinstance(block, Media)]
        content = self._blocks(blocks, marks="messages" in self._model.caches)
        documents = [each["document"] for each in content if "document" in each]
        if documents and not any("text" in each for each in content):
            # The vendor wants a text beside each document; its name says nothing new.
            content.append({"text": documents[0]["name"]})
        return content

    def _blocks(self, blocks: Sequence[Block], *, marks: bool) -> list[Json]:
        content: list[Json] = []
        for block in blocks:
            parts = _WRITERS[type(block)](self, block)
            if parts is None:
                continue
            content.append(parts)
            if marks and (mark := mark_of(block)):
                content.append(cache_point(mark))
        return content

    def _text(self, block: Text | Refusal) -> Json | None:
        # A blank text is an error to the vendor, and says nothing.
        return {"text": block.text} if block.text.strip() else None

    def _media(self, block: Media) -> Json | None:
        return self._media_writer.write(block)

    def _reasoning(self, block: Reasoning) -> Json | None:
        signature = block.signature
        if signature is None or signature.language != NAME or not self._model.claude:
            reason = "thoughts without a signature of this vendor are refused"
            self._losses.add(block.place, reason, hint=True)
            return None
        return {"reasoningContent": write_reasoning(block.text, signature)}

    def _call(self, block: ToolCall) -> Json:
        call = {
            "toolUseId": call_id(block.id),
            "name": self._names.legal(block.name),
            "input": arguments_object(block),
        }
        return {"toolUse": call}

    def _result(self, block: ToolResult) -> Json:
        result: Json = {
            "toolUseId": call_id(block.id),
            "content": self._blocks(block.content, marks=False),
        }
        if block.is_error:
            result["status"] = "error"
        return {"toolResult": result}

    def _foreign(self, block: Foreign) -> None:
        self._losses.add(block.place, f"'{block.kind}' is known to another vendor only")


_WRITERS: dict[type[Block], Callable[[ContentWriter, Any], Json | None]] = {
    Text: ContentWriter._text,
    Refusal: ContentWriter._text,
    Media: ContentWriter._media,
    Reasoning: ContentWriter._reasoning,
    ToolCall: ContentWriter._call,
    ToolResult: ContentWriter._result,
    Foreign: ContentWriter._foreign,
}


def cache_point(mark: CacheMark) -> Json:
    """The block behind what the prompt cache is to keep."""
    ttl = {"ttl": "1h"} if mark == "1h" else {}
    return {"cachePoint": {"type": "default", **ttl}}


def limit_cache_points(contents: Sequence[list[Json]]) -> None:
    """Leave the last four of a request, which cover what those before them do. The lists of blocks
    are in the order in which the vendor caches them."""
    count = sum("cachePoint" in block for content in contents for block in content)
    surplus = iter(range(count - MOST_CACHE_POINTS))
    for content in contents:
        content[:] = [o for o in content if "cachePoint" not in o or next(surplus, None) is None]
