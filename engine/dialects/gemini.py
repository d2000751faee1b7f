"""The Gemini dialect: generate-content. `error.code` is an integer here alone, because the vendor's
SDK raises TypeError on a string; our own code stands in `details[0].reason`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from engine.dialects import (
    Dialect,
    Document,
    ModelCard,
    ModelList,
    StreamError,
    limit_of,
    status_in,
)
from engine.dialects.usage import Meter, first
from engine.values.errors import GatewayError
from engine.values.usage import Usage

_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    501: "UNIMPLEMENTED",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_KEY = re.compile(r"(?:^|&)key=")


def _error(error: GatewayError, request_id: str) -> Document:
    fallback = "INTERNAL" if error.status >= 500 else "INVALID_ARGUMENT"
    status = _STATUS.get(error.status, fallback)
    return {
        "error": {
            "code": error.status,
            "message": error.message,
            "status": status,
            "type": status.lower(),
            "param": error.param,
            "details": [
                {
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": error.code,
                    "domain": "modelway",
                }
            ],
        }
    }


# google.rpc.Code by the HTTP status that the vendor gives it (google/rpc/code.proto).
_STATUSES = {
    **dict.fromkeys(("INVALID_ARGUMENT", "FAILED_PRECONDITION", "OUT_OF_RANGE"), 400),
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    **dict.fromkeys(("ABORTED", "ALREADY_EXISTS"), 409),
    "RESOURCE_EXHAUSTED": 429,
    "CANCELLED": 499,
    **dict.fromkeys(("INTERNAL", "UNKNOWN", "DATA_LOSS"), 500),
    "UNIMPLEMENTED": 501,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}


def _stream_error(document: Any) -> StreamError | None:
    """An error as an event or as the item of an array that is streamed."""
    error = document.get("error") if isinstance(document, dict) else None
    if not isinstance(error, dict):
        return None
    word = error.get("status")
    status = status_in(error.get("code"))
    if status is None and isinstance(word, str):
        status = _STATUSES.get(word)
    if status is None:
        return None
    message = error.get("message")
    error = {"status": _STATUS.get(status, "INTERNAL"), **error, "code": status}
    error["message"] = message if isinstance(message, str) and message else "The request failed."
    return StreamError(status, document | {"error": error})


def _is_error(document: Any) -> bool:
    if isinstance(document, list):
        document = document[0] if document else None
    error = document.get("error") if isinstance(document, dict) else None
    return (
        isinstance(error, dict)
        and type(error.get("code")) is int
        and isinstance(error.get("message"), str)
    )


def _has_content(document: Any) -> bool:
    """False for a first event that only counts tokens."""
    if not isinstance(document, dict) or "promptFeedback" in document:
        return True
    if "candidates" not in document:
        return "usageMetadata" not in document
    candidates = document["candidates"] or []
    if not isinstance(candidates, list):
        return True
    return any(_says_something(one) for one in candidates if isinstance(one, dict))


def _says_something(candidate: dict[str, Any]) -> bool:
    content = candidate.get("content") or {}
    parts = content.get("parts") if isinstance(content, dict) else content
    return bool(candidate.get("finishReason") or parts)


def _usage_of(document: Any) -> Usage | None:
    """What an answer, an event, or the array of a stream says was used.

    `candidatesTokenCount` leaves thoughts out, unless the total shows that it has them already.
    """
    if isinstance(document, list):
        found = (_usage_of(one) for one in reversed(document) if isinstance(one, dict))
        return next((usage for usage in found if usage is not None), None)
    said = document.get("usageMetadata") if isinstance(document, dict) else None
    prompt, tools = first(said, "promptTokenCount"), first(said, "toolUsePromptTokenCount")
    answer = first(said, "candidatesTokenCount", "responseTokenCount")
    thoughts, total = first(said, "thoughtsTokenCount"), first(said, "totalTokenCount")
    if prompt is None and tools is None and answer is None and thoughts is None and total is None:
        return None
    taken = (prompt or 0) + (tools or 0)
    given = answer or 0
    if thoughts and (total is None or total > taken + given):
        given += thoughts
    if prompt is None and total is not None:
        taken = max(taken, total - given)
    return Usage(
        input=taken,
        output=given,
        cached=min(first(said, "cachedContentTokenCount") or 0, taken),
        reasoning=min(thoughts or 0, given),
        source="upstream",
    )


class _Tally:
    """Every event tells all that was used so far."""

    def __init__(self) -> None:
        self.ended = False
        self._usage: Usage | None = None

    def take(self, document: Any) -> None:
        self._usage = _usage_of(document) or self._usage
        self.ended = self._usage is not None

    def usage(self) -> Usage | None:
        return self._usage


def _models(listed: ModelList, parameters: Mapping[str, str]) -> Document:
    limit = limit_of(parameters, "pageSize", 50)
    last = listed.place(parameters.get("pageToken"))
    start = 0 if last is None else last + 1
    end = min(len(listed), start + limit)
    answer: Document = {"models": listed.documents[start:end]}
    if end < len(listed):
        answer["nextPageToken"] = listed.names[end - 1]
    return answer


def _model(card: ModelCard) -> Document:
    return {
        "name": f"models/{card.name}",
        "baseModelId": card.name,
        "version": "1",
        "displayName": card.title,
        "supportedGenerationMethods": list(card.methods),
    }


def _claims(environ: Mapping[str, Any], query: str) -> bool:
    return "HTTP_X_GOOG_API_KEY" in environ or _KEY.search(query) is not None


DIALECT = Dialect(
    name="gemini",
    claims=_claims,
    error=_error,
    is_error=_is_error,
    error_event=lambda body: b"data: " + body + b"\n\n",
    stream_error=_stream_error,
    models=_models,
    model=_model,
    has_content=_has_content,
    meter=Meter(
        usage_of=_usage_of,
        tally=_Tally,
        key="usageMetadata",
        repeats=True,
        members=("usageMetadata",),
    ),
    request_headers=("x-goog-api-client", "x-server-timeout", "x-client-request-id"),
    response_headers=("x-goog-request-id", "x-gemini-*", "x-vertex-ai-*"),
    hidden_headers=frozenset({"set-cookie"}),
    event_names=False,
    comments=False,
)
