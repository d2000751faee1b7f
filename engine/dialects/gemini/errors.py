"""Errors of the Gemini dialect: the error object, and the status that an error event stands for.

`error.code` is an integer, because the vendor's SDK raises TypeError on a string; the gateway's own
code is `details[0].reason`.
"""

from __future__ import annotations

from engine.dialects.interface.dialect import Document
from engine.dialects.interface.error_forms import reported_error
from engine.dialects.interface.error_texts import message_in
from engine.dialects.interface.streams import StreamError, error_in, status_in
from engine.values.errors import GatewayError

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
    529: "UNAVAILABLE",
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


def error_object(error: GatewayError, request_id: str) -> Document:
    """The body of an error; `request_id` has no place in it."""
    fallback = "INTERNAL" if error.status >= 500 else "INVALID_ARGUMENT"
    status = _STATUS.get(error.status, fallback)
    return {
        "error": {
            "code": error.status,
            "message": error.message,
            "status": status,
            "type": status.lower(),
            "param": error.param or None,
            "details": [
                {
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": error.code,
                    "domain": "modelway",
                }
            ],
        }
    }


def stream_error(document: object) -> StreamError | None:
    """An error as an event, or as an item of a streamed array."""
    error = reported_error(document)
    if error is None:
        return None
    name = error.get("status")
    status = _STATUSES.get(name) if isinstance(name, str) else None
    status = status or status_in(error.get("code")) or status_in(error.get("status"))
    if status is None:
        return None
    code = {"code": status, "message": message_in(error)}
    word = {} if isinstance(name, str) else {"status": _STATUS.get(status, "INTERNAL")}
    return StreamError(status, {"error": {**error, **code, **word}})


def is_error(document: object) -> bool:
    """Whether a document, or the first item of an array, is an error."""
    if isinstance(document, list):
        document = document[0] if document else None
    error = error_in(document) or {}
    return type(error.get("code")) is int and isinstance(error.get("message"), str)
