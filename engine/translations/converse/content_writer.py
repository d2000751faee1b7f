"""Neutral blocks -> the content of messages."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Sequence
from typing import Any

from engine.translations.converse.answer_fields import NAME, write_reasoning
from engine.translations.converse.models import Model
from engine.translations.neutral import content as neutral
from engine.translations.neutral.calls import ToolNames, call_id, sent_arguments
from engine.translations.neutral.losses import Losses
from engine.values.trees import Json

_FORMATS: dict[str, dict[str, str]] = {
    "image": {f"image/{name}": name for name in ("png", "jpeg", "gif", "webp")},
    "video": {
        **{f"video/{name}": name for name in ("mp4", "webm", "mpeg")},
        "video/x-matroska": "mkv",
        "video/quicktime": "mov",
        "video/x-flv": "flv",
        "video/x-ms-wmv": "wmv",
        "video/3gpp": "three_gp",
        "video/mpg": "mpg",
    },
    "audio": {
        **{f"audio/{name}": name for name in ("aac", "flac", "mp4", "ogg", "opus", "pcm", "webm")},
        "audio/mpeg": "mp3",
        "audio/mp3": "mp3",
        "audio/wav": "wav",
        "audio/x-wav": "wav",
    },
    "document": {
        "application/pdf": "pdf",
        "text/csv": "csv",
        "text/html": "html",
        "text/markdown": "md",
        "application/msword": "doc",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
        "application/vnd.ms-excel": "xls",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
        "application/json": "txt",
    },
}

_ILLEGAL = re.compile(r"[^A-Za-z0-9\s()\[\]-]+")
_SPACE = re.compile(r"\s+")
_MAX_NAME = 190  # of 200: a number may follow


class MediaWriter:
    """Writes the media of one request; `kinds` are those that the model takes."""

    def __init__(self, losses: Losses, kinds: frozenset[str]) -> None:
        self._losses, self._kinds = losses, kinds
        self._names: set[str] = set()
        self._numbers: dict[str, int] = {}

    def write(self, block: neutral.Media) -> Json | None:
        """The block; None for one that cannot be sent, which is a loss."""
        media = self._media(block)
        if isinstance(media, str):
            self._losses.add(block.place, media)
            return None
        if block.detail:
            self._losses.add_detail(block)
        if block.kind == "document":
            media = {"name": self._name(block), **media}
        return {block.kind: media}

    def _media(self, block: neutral.Media) -> Json | str:
        """The format and the source, or the reason why there are none."""
        source = block.source
        if block.kind not in self._kinds:
            return f"the model takes no {block.kind}"
        if isinstance(source, neutral.PlainText):
            if block.kind != "document":
                return "only a document can be given as text"
            data = base64.b64encode(source.text.encode()).decode()
            return {"format": "txt", "source": {"bytes": data}}
        if isinstance(source, neutral.Inline):
            word = _format(block.kind, source.media_type)
            place: Json = {"bytes": source.data}
        elif isinstance(source, neutral.Link) and source.url.startswith("s3://"):
            word = _format(block.kind, source.media_type) or _ending(block.kind, source.url)
            place = {"s3Location": {"uri": source.url}}
        elif isinstance(source, neutral.Link):
            return "the upstream reads only links to Amazon S3 (s3://)"
        else:
            return neutral.UPLOADED
        if not word:
            return f"the upstream takes no {source.media_type or 'content of an unknown type'}"
        return {"format": word, "source": place}

    def _name(self, block: neutral.Media) -> str:
        """A name of characters that the vendor accepts, which no other document has."""
        legal = _SPACE.sub(" ", _ILLEGAL.sub(" ", block.name)).strip()[:_MAX_NAME].strip()
        base = name = legal or "document"
        while name in self._names:
            self._numbers[base] = self._numbers.get(base, 1) + 1
            name = f"{base} {self._numbers[base]}"
        self._names.add(name)
        return name


def _format(kind: str, media_type: str) -> str:
    """The vendor's word for a media type, "" for one that it does not take."""
    word = _FORMATS[kind].get(media_type, "")
    return "txt" if not word and kind == "document" and media_type.startswith("text/") else word


def _ending(kind: str, url: str) -> str:
    ending = url.rpartition(".")[2].lower()
    words = {*_FORMATS[kind].values(), *(("txt",) if kind == "document" else ())}
    ending = {"jpg": "jpeg"}.get(ending, ending)
    return ending if ending in words else ""


MAX_CACHE_POINTS = 4


class ContentWriter:
    """Writes the content of one request; what the vendor has no block for is a loss."""

    def __init__(self, names: ToolNames, losses: Losses, model: Model) -> None:
        self._names, self._losses, self._model = names, losses, model
        self._media_writer = MediaWriter(losses, model.media)

    def system(self, blocks: Sequence[neutral.Block]) -> list[Json]:
        return self._blocks(blocks, marks="system" in self._model.caches)

    def turn(self, blocks: Sequence[neutral.Block], role: str) -> list[Json]:
        """The content of a turn; only users may send media."""
        if role == "assistant":
            for block in blocks:
                if isinstance(block, neutral.Media):
                    self._losses.add(block.place, "an assistant's turn cannot contain media")
            blocks = [block for block in blocks if not isinstance(block, neutral.Media)]
        content = self._blocks(blocks, marks="messages" in self._model.caches)
        documents = [each["document"] for each in content if "document" in each]
        if documents and not any("text" in each for each in content):
            # The vendor wants a text beside each document; its name says nothing new.
            content.append({"text": documents[0]["name"]})
        return content

    def _blocks(self, blocks: Sequence[neutral.Block], *, marks: bool) -> list[Json]:
        content: list[Json] = []
        for block in blocks:
            parts = _WRITERS[type(block)](self, block)
            if parts is None:
                continue
            content.append(parts)
            if marks and (mark := neutral.mark_of(block)):
                content.append(cache_point(mark))
        return content

    def _text(self, block: neutral.Text | neutral.Refusal) -> Json | None:
        # A blank text is an error to the vendor, and says nothing.
        return {"text": block.text} if block.text.strip() else None

    def _media(self, block: neutral.Media) -> Json | None:
        return self._media_writer.write(block)

    def _reasoning(self, block: neutral.Reasoning) -> Json | None:
        signature = block.signature
        if signature is None or signature.language != NAME or not self._model.claude:
            reason = "thoughts without a signature of this vendor are refused"
            self._losses.add(block.place, reason, hint=True)
            return None
        return {"reasoningContent": write_reasoning(block.text, signature)}

    def _call(self, block: neutral.ToolCall) -> Json:
        call = {
            "toolUseId": call_id(block.id),
            "name": self._names.legal(block.name),
            "input": sent_arguments(block),
        }
        return {"toolUse": call}

    def _result(self, block: neutral.ToolResult) -> Json:
        result: Json = {
            "toolUseId": call_id(block.id),
            "content": self._blocks(block.content, marks=False),
        }
        if block.is_error:
            result["status"] = "error"
        return {"toolResult": result}

    def _foreign(self, block: neutral.Foreign) -> None:
        self._losses.add_block(block, f"only another vendor has '{block.kind}' blocks")


_WRITERS: dict[type[neutral.Block], Callable[[ContentWriter, Any], Json | None]] = {
    neutral.Text: ContentWriter._text,
    neutral.Refusal: ContentWriter._text,
    neutral.Media: ContentWriter._media,
    neutral.Reasoning: ContentWriter._reasoning,
    neutral.ToolCall: ContentWriter._call,
    neutral.ToolResult: ContentWriter._result,
    neutral.Foreign: ContentWriter._foreign,
}


def cache_point(mark: neutral.CacheMark) -> Json:
    """The block behind what the prompt cache is to keep."""
    return {"cachePoint": {"type": "default"} | ({"ttl": "1h"} if mark == "1h" else {})}


def limit_cache_points(contents: Sequence[list[Json]]) -> None:
    """Leave the last four of a request, which cover what those before them do."""
    count = sum("cachePoint" in block for content in contents for block in content)
    surplus = iter(range(count - MAX_CACHE_POINTS))
    for content in contents:
        content[:] = [o for o in content if "cachePoint" not in o or next(surplus, None) is None]
