"""What requests, answers and streams of this language have in common: stop reasons, signatures
and errors."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from engine.translations.converse.answer_shapes import EXTRA_FIELDS
from engine.translations.neutral.content import Json, Signature
from engine.translations.neutral.events import BrokenAnswer, Finish, Stop, UpstreamError
from engine.translations.neutral.members import NULL, WrongType
from engine.translations.upstream_errors import AnswerErrors, error_of

NAME = "converse"

_REDACTED = "redacted:"
"""Begins the signature of thoughts that come encrypted (`redactedContent`)."""

_STOPS: dict[str, Stop] = {
    "end_turn": "end",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "stop_sequence": "stop_sequence",
    "guardrail_intervened": "filter",
    "content_filtered": "filter",
}
_MALFORMED = ("malformed_model_output", "malformed_tool_use")
_EXPLANATIONS = {"guardrail_intervened": "A guardrail of the upstream intervened."}


def read_finish(reason: str, fields: Raw) -> Finish:
    """Why an answer ended. `fields` are those that only its model has. Raises BrokenAnswer for an
    answer that the vendor found broken."""
    if reason in _MALFORMED:
        raise BrokenAnswer(f"the upstream's answer is malformed ({reason})")
    return Finish(
        stop=_STOPS.get(reason, "end"),
        native=reason,
        sequence=_stop_sequence(fields),
        explanation=_EXPLANATIONS.get(reason, ""),
    )


def _stop_sequence(fields: Raw) -> str:
    """The stop sequence that was met. Fields of another form have none: each model has its own."""
    if fields == NULL:
        return ""
    try:
        return EXTRA_FIELDS.read(fields).stop_sequence or ""
    except WrongType:
        return ""


def read_signature(signature: str | None, redacted: str | None) -> Signature | None:
    """The signature of thoughts, or encrypted thoughts as one; None for neither."""
    if signature:
        return Signature(NAME, signature)
    return Signature(NAME, _REDACTED + redacted) if redacted else None


def write_reasoning(text: str, signature: Signature) -> Json:
    """The content of a block of thoughts with a signature of this language."""
    value = signature.value
    if value.startswith(_REDACTED):
        return {"redactedContent": value.removeprefix(_REDACTED)}
    return {"reasoningText": {"text": text, "signature": value}}


def read_error(status: int, document: Any) -> UpstreamError:
    """The error in an error response. A 424 says that the model failed, which is no fault of the
    caller's."""
    error = error_of(502 if status == 424 else status, document, ("__type",))
    error.code = error.code.rpartition("#")[2]
    return error


ERRORS = AnswerErrors("bedrock", read_error)
