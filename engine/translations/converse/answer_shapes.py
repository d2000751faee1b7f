"""The shapes of answers and of the events of streams: what is read of them.

A block, and a delta of one, is an object with one member, which names its kind. Others say nothing
of it: `type` stands in some blocks and not in others.
"""

from __future__ import annotations

from msgspec import Raw, Struct

from engine.translations.neutral.members import NULL
from engine.translations.neutral.shapes import Shape


class ExtraFields(Struct):
    """`additionalModelResponseFields`, as far as they were asked for."""

    stop_sequence: str | None = None


class ToolUse(Struct, rename="camel"):
    """A call of a tool; the `type` is `server_tool_use` for one that the vendor runs, any other is
    an ornament. In a stream its input comes in deltas, as pieces of a text."""

    tool_use_id: str | None = None
    name: str | None = None
    type: str | None = None
    input: Raw = NULL


class ReasoningText(Struct):
    text: str | None = None
    signature: str | None = None


class Reasoning(Struct, rename="camel"):
    """Thoughts; a delta of them has their text and signature beside one another."""

    reasoning_text: ReasoningText | None = None
    redacted_content: str | None = None
    text: str | None = None
    signature: str | None = None


class Words(Struct):
    text: str | None = None


class Web(Struct):
    url: str | None = None


class Location(Struct):
    """Where a source is; only those of the web are read."""

    web: Web | None = None


class Citation(Struct, rename="camel"):
    title: str | None = None
    source_content: list[Words] | None = None
    location: Location | None = None


class CitationsContent(Struct):
    content: list[Words] | None = None
    citations: list[Citation] | None = None


class ImageSource(Struct):
    """The bytes of an image, in base64."""

    bytes: str | None = None


class Image(Struct):
    """An image; in a stream its format is in the beginning and its source in a delta."""

    format: str | None = None
    source: ImageSource | None = None


class Block(Struct, rename="camel"):
    """A block of an answer in one piece; the beginning of one, or more of one, in a stream."""

    text: str | None = None
    tool_use: ToolUse | None = None
    reasoning_content: Reasoning | None = None
    citations_content: CitationsContent | None = None
    citation: Citation | None = None
    image: Image | None = None


class Message(Struct):
    content: list[Block] | None = None


class Output(Struct):
    message: Message | None = None


class Ending(Struct, rename="camel"):
    stop_reason: str | None = None
    additional_model_response_fields: Raw = NULL


class Answer(Ending, rename="camel"):
    output: Output | None = None


class BlockEvent(Struct, rename="camel"):
    """A block begins (`start`), goes on (`delta`) or is complete."""

    content_block_index: int | None = None
    start: Block | None = None
    delta: Block | None = None


class StreamEvent(Struct, rename="camel"):
    content_block_delta: BlockEvent | None = None
    content_block_start: BlockEvent | None = None
    content_block_stop: BlockEvent | None = None
    message_start: Raw = NULL
    message_stop: Ending | None = None
    metadata: Raw = NULL


_KEPT = frozenset(
    ("toolUseId", "type", "citation", "citations", "signature", "stop_sequence", "format")
)
"""Members that an answer is given without if they are not well formed (`Shape`)."""


EXTRA_FIELDS = Shape(ExtraFields, _KEPT)
ANSWER = Shape(Answer, _KEPT)
STREAM_EVENT = Shape(StreamEvent, _KEPT)
