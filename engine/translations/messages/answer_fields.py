"""The shapes of answers and of the events of streams, and what they have in common with requests.

A block is read by its `type`, or by its members if that is missing or not known here; one that says
nothing so is passed on as it came (`Raw`).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Raw, Struct

from engine.translations.neutral import content as neutral
from engine.translations.neutral import events
from engine.translations.neutral.answer_json import Shape
from engine.translations.neutral.json_members import NULL
from engine.translations.neutral.refusals import AnswerErrors, error_of
from engine.translations.neutral.request import ChatRequest
from engine.values.trees import Json
from engine.values.usage import Usage


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


class CitationShape(Struct):
    url: str | None = None
    title: str | None = None
    cited_text: str | None = None


class Kind(Struct):
    """What says the kind of a block: its type, or else its members."""

    type: str | None = None
    text: Raw = NULL
    thinking: Raw = NULL
    name: Raw = NULL
    input: Raw = NULL


class TextBlock(Struct):
    text: str | None = None
    citations: list[CitationShape] | None = None


class ThinkingBlock(Struct):
    thinking: str | None = None
    signature: str | None = None


class RedactedBlock(Struct):
    data: str | None = None


class CallBlock(Struct):
    id: str | None = None
    name: str | None = None
    input: Raw = NULL


class DeltaShape(Struct):
    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None
    signature: str | None = None
    citation: CitationShape | None = None


class BeginEvent(Struct):
    message: Head | None = None
    content_block: Raw = NULL


class StreamEvent(Struct):
    type: str | None = None
    index: int | None = None
    delta: Raw = NULL


_OPTIONAL = ("id", "model", "stop_sequence", "stop_details", "citations", "citation", "signature")

_JSON_TEXTS = ("partial_json",)

MESSAGE = Shape(Message, _OPTIONAL, _JSON_TEXTS)
ENDING: Shape[Ending | None] = Shape(Ending | None, _OPTIONAL, _JSON_TEXTS)
KIND = Shape(Kind, _OPTIONAL, _JSON_TEXTS)
TEXT_BLOCK = Shape(TextBlock, _OPTIONAL, _JSON_TEXTS)
THINKING_BLOCK = Shape(ThinkingBlock, _OPTIONAL, _JSON_TEXTS)
REDACTED_BLOCK = Shape(RedactedBlock, _OPTIONAL, _JSON_TEXTS)
CALL_BLOCK = Shape(CallBlock, _OPTIONAL, _JSON_TEXTS)
DELTA = Shape(DeltaShape, _OPTIONAL, _JSON_TEXTS)
STREAM_EVENT = Shape(StreamEvent, _OPTIONAL, _JSON_TEXTS)
BEGIN_EVENT = Shape(BeginEvent, _OPTIONAL, _JSON_TEXTS)


NAME = "messages"
PREFIX = "msg_"

_REDACTED = "redacted:"
"""Begins the signature of thoughts that come encrypted (`redacted_thinking`)."""

_STOPS: dict[str, events.Stop] = {
    "end_turn": "end",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "stop_sequence": "stop_sequence",
    "refusal": "filter",
    "pause_turn": "pause",
}
_REASONS: dict[events.Stop, str] = {
    "end": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "stop_sequence": "stop_sequence",
    "filter": "refusal",
    "pause": "pause_turn",
}


def read_finish(ending: Ending) -> events.Finish:
    reason = ending.stop_reason or ""
    details = ending.stop_details
    return events.Finish(
        stop=_STOPS.get(reason) or events.foreign_stop(reason) or "end",
        native=reason,
        sequence=ending.stop_sequence or "",
        explanation="" if details is None else details.explanation or "",
    )


def write_finish(finish: events.Finish, stops: Sequence[str], *, has_refusal: bool) -> Json:
    """The members that say why an answer ended; `has_refusal`: it has words of refusal, which some
    upstreams do not say in their reason. Of upstreams without a word for stop sequences only one of
    the caller's `stops` is one."""
    stop = finish.stop
    if stop == "end" and has_refusal:
        stop = "filter"
    reason = finish.native if _STOPS.get(finish.native) == stop else _REASONS[stop]
    sequence: str | None = finish.sequence or None
    if reason == "stop_sequence" and finish.native != reason and sequence not in stops:
        sequence = None
    if reason == "stop_sequence" and sequence is None:
        reason = "end_turn"
    members: Json = {"stop_reason": reason, "stop_sequence": sequence}
    if reason == "refusal":
        explanation = finish.explanation or None
        members["stop_details"] = {"type": "refusal", "category": None, "explanation": explanation}
    return members


def write_usage(usage: Usage | None) -> Json:
    """The usage of an answer; it is a required member."""
    usage = usage or Usage()
    cache_write = usage.cache_write
    members: Json = {
        "input_tokens": max(usage.input - usage.cached - cache_write, 0),
        "cache_creation_input_tokens": cache_write,
        "cache_read_input_tokens": usage.cached,
    }
    if cache_write:
        members["cache_creation"] = {
            "ephemeral_5m_input_tokens": max(cache_write - usage.cache_write_1h, 0),
            "ephemeral_1h_input_tokens": usage.cache_write_1h,
        }
    members["output_tokens"] = usage.output
    if usage.reasoning:
        members["output_tokens_details"] = {"thinking_tokens": usage.reasoning}
    return members


def read_signature(text: str, *, redacted: bool = False) -> neutral.Signature | None:
    """The signature of thoughts, or encrypted thoughts as one; None for an empty text."""
    if not text:
        return None
    signature = neutral.unseal(text, NAME)
    if redacted and signature.language == NAME:
        return neutral.Signature(NAME, _REDACTED + signature.value)
    return signature


def write_reasoning(text: str, signature: neutral.Signature | None) -> Json:
    if signature is not None and signature.language == NAME:
        value = signature.value
        if value.startswith(_REDACTED):
            return {"type": "redacted_thinking", "data": value.removeprefix(_REDACTED)}
    sealed = "" if signature is None else neutral.seal(signature, NAME)
    return {"type": "thinking", "thinking": text, "signature": sealed}


def thinks_on_budget(request: ChatRequest) -> bool:
    """Whether the caller asked for thoughts on a budget: a turn that calls tools begins with them
    then, or the vendor refuses to go on with it."""
    thinking = request.thinking
    return thinking is not None and not thinking.off and thinking.budget is not None


def read_citation(citation: CitationShape) -> neutral.Citation | None:
    """A citation; None for a kind that does not say where its source is."""
    if citation.url is None:
        return None
    return neutral.Citation(citation.url, citation.title or "", citation.cited_text or "")


def write_citation(citation: neutral.Citation) -> Json:
    """A citation; a seal stands for the index that only the vendor has, and requires."""
    return {
        "type": "web_search_result_location",
        "cited_text": citation.cited,
        "url": citation.url,
        "title": citation.title or None,
        "encrypted_index": neutral.SEAL,
    }


def read_error(status: int, document: object) -> events.UpstreamError:
    """The error in an error response. Only this vendor has the status 529: it is a 503."""
    return error_of(503 if status == 529 else status, document, ("type",))


ERRORS = AnswerErrors("anthropic", read_error)
