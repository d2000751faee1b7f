"""The shapes of answers and of the events of streams, and what they have in common with requests:
stop reasons, signatures and errors.

A block, and a delta of one, is an object with one member, which names its kind. Others say nothing
of it: `type` stands in some blocks and not in others.
"""

from __future__ import annotations

from msgspec import Raw, Struct

from engine.translations.neutral import content as neutral
from engine.translations.neutral import events
from engine.translations.neutral.answer_json import Shape, TextPiece
from engine.translations.neutral.json_members import NULL
from engine.translations.neutral.refusals import AnswerErrors, error_of
from engine.values.trees import Json


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


class Web(Struct):
    url: str | None = None


class Location(Struct):
    web: Web | None = None


class CitationShape(Struct, rename="camel"):
    title: str | None = None
    source_content: list[TextPiece] | None = None
    location: Location | None = None


class CitationsContent(Struct):
    content: list[TextPiece] | None = None
    citations: list[CitationShape] | None = None


class ImageSource(Struct):
    bytes: str | None = None


class Image(Struct):
    """An image; in a stream its format is in the beginning and its source in a delta."""

    format: str | None = None
    source: ImageSource | None = None


class BlockShape(Struct, rename="camel"):
    """A block of an answer in one piece; the beginning of one, or more of one, in a stream."""

    text: str | None = None
    tool_use: ToolUse | None = None
    reasoning_content: Reasoning | None = None
    citations_content: CitationsContent | None = None
    citation: CitationShape | None = None
    image: Image | None = None


class Message(Struct):
    content: list[BlockShape] | None = None


class Output(Struct):
    message: Message | None = None


class Ending(Struct, rename="camel"):
    stop_reason: str | None = None
    additional_model_response_fields: ExtraFields | None = None


class Answer(Ending, rename="camel"):
    output: Output | None = None


class BlockEvent(Struct, rename="camel"):
    content_block_index: int | None = None
    start: BlockShape | None = None
    delta: BlockShape | None = None


class StreamEvent(Struct, rename="camel"):
    content_block_delta: BlockEvent | None = None
    content_block_start: BlockEvent | None = None
    content_block_stop: BlockEvent | None = None
    message_start: Raw = NULL
    message_stop: Ending | None = None
    metadata: Raw = NULL


_OPTIONAL = (
    *("toolUseId", "type", "citation", "citations", "signature", "format"),
    *("additionalModelResponseFields", "stop_sequence"),
)

ANSWER = Shape(Answer, _OPTIONAL, parts=("content",))
STREAM_EVENT = Shape(StreamEvent, _OPTIONAL)


NAME = "converse"

_REDACTED = "redacted:"
"""Begins the signature of thoughts that come encrypted (`redactedContent`)."""

_STOPS: dict[str, events.Stop] = {
    "end_turn": "end",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "stop_sequence": "stop_sequence",
    "guardrail_intervened": "filter",
    "content_filtered": "filter",
}
_EXPLANATIONS = {"guardrail_intervened": "A guardrail of the upstream intervened."}


def read_finish(reason: str, fields: ExtraFields | None) -> events.Finish:
    """`fields` are those that only its model has. Raises BrokenAnswer for a broken answer."""
    if reason in ("malformed_model_output", "malformed_tool_use"):
        raise events.BrokenAnswer(f"the upstream's answer is malformed ({reason})")
    return events.Finish(
        stop=_STOPS.get(reason) or events.foreign_stop(reason) or "end",
        native=reason,
        sequence="" if fields is None else fields.stop_sequence or "",
        explanation=_EXPLANATIONS.get(reason, ""),
    )


def read_signature(signature: str | None, redacted: str | None) -> neutral.Signature | None:
    """The signature of thoughts, or encrypted thoughts as one; None for neither."""
    if signature:
        return neutral.Signature(NAME, signature)
    return neutral.Signature(NAME, _REDACTED + redacted) if redacted else None


def write_reasoning(text: str, signature: neutral.Signature) -> Json:
    value = signature.value
    if value.startswith(_REDACTED):
        return {"redactedContent": value.removeprefix(_REDACTED)}
    return {"reasoningText": {"text": text, "signature": value}}


def read_error(status: int, document: object) -> events.UpstreamError:
    """A 424 says that the model failed, which is no fault of the caller's."""
    error = error_of(502 if status == 424 else status, document, ("__type",))
    error.code = error.code.rpartition("#")[2]
    return error


ERRORS = AnswerErrors("bedrock", read_error)
