"""The shapes of messages and of the events of their streams: what is read of them.

A block is read by its `type`, or by its members if that is missing or not known here; one that says
nothing so is passed on as it came (`Raw`).
"""

from __future__ import annotations

from msgspec import Raw, Struct

from engine.translations.neutral.members import NULL
from engine.translations.neutral.shapes import Shape


class Head(Struct):
    id: str | None = None
    model: str | None = None


class StopDetails(Struct):
    explanation: str | None = None


class Ending(Struct):
    stop_reason: str | None = None
    stop_sequence: str | None = None
    stop_details: StopDetails | None = None


class Message(Ending):
    id: str | None = None
    model: str | None = None
    type: Raw = NULL
    error: Raw = NULL
    content: list[Raw] | str | None = None


class Citation(Struct):
    """A source; only those with a URL are read."""

    url: str | None = None
    title: str | None = None
    cited_text: str | None = None
    encrypted_index: str | None = None


class Kind(Struct):
    """What says the kind of a block: its type, or else its members."""

    type: str | None = None
    text: Raw = NULL
    thinking: Raw = NULL
    name: Raw = NULL
    input: Raw = NULL


class TextBlock(Struct):
    text: str | None = None
    citations: list[Citation] | None = None


class ThinkingBlock(Struct):
    thinking: str | None = None
    signature: str | None = None


class RedactedBlock(Struct):
    data: str | None = None


class CallBlock(Struct):
    id: str | None = None
    name: str | None = None
    input: Raw = NULL


class Delta(Struct):
    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None
    signature: str | None = None
    citation: Citation | None = None


class BeginEvent(Struct):
    message: Head | None = None
    content_block: Raw = NULL


class StreamEvent(Struct):
    type: str | None = None
    index: int | None = None
    delta: Raw = NULL


_KEPT = frozenset(
    ("id", "model", "stop_sequence", "stop_details", "citations", "citation", "signature")
)
"""Members that an answer is given without if they are not well formed (`Shape`)."""

_JSON_TEXTS = frozenset({"partial_json"})

MESSAGE = Shape(Message, _KEPT, _JSON_TEXTS)
ENDING = Shape(Ending | None, _KEPT, _JSON_TEXTS)
KIND = Shape(Kind, _KEPT, _JSON_TEXTS)
TEXT_BLOCK = Shape(TextBlock, _KEPT, _JSON_TEXTS)
THINKING_BLOCK = Shape(ThinkingBlock, _KEPT, _JSON_TEXTS)
REDACTED_BLOCK = Shape(RedactedBlock, _KEPT, _JSON_TEXTS)
CALL_BLOCK = Shape(CallBlock, _KEPT, _JSON_TEXTS)
DELTA = Shape(Delta, _KEPT, _JSON_TEXTS)
STREAM_EVENT = Shape(StreamEvent, _KEPT, _JSON_TEXTS)
BEGIN_EVENT = Shape(BeginEvent, _KEPT, _JSON_TEXTS)
