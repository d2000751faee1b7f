"""Errors of the OpenAI dialect: the error object, and the HTTP status of an error event."""

from __future__ import annotations

import time
from uuid import uuid4

import orjson

from engine.dialects.interface.dialect import Document
from engine.dialects.interface.error_forms import (
    FAILED,
    FAILED_REASONS,
    VENDOR_CODES,
    reported_error,
)
from engine.dialects.interface.error_texts import error_text, message_in
from engine.dialects.interface.streams import (
    StreamError,
    error_in,
    status_in,
)
from engine.values.errors import GatewayError
from engine.values.trees import Json

_TYPES = {403: "permission_error", 429: "requests"}
_QUOTA = "insufficient_quota"
"""A code that is also the `type`: the quota is used up, and a retry does not help."""


def error_object(error: GatewayError, request_id: str) -> Document:
    """`{"error": {message, type, param, code}}`: all strings but a `param` that names no place, and
    `type` is one of the vendor's."""
    return {
        "error": {
            "message": error.message,
            "type": _QUOTA if error.code == _QUOTA else _type_of(error.status),
            "param": error.param or None,
            "code": error.code,
        }
    }


def is_error(document: object) -> bool:
    """Whether this is an error object with a message, which the vendor's SDK shows."""
    error = error_in(document)
    return error is not None and isinstance(error.get("message"), str)


def error_event(body: bytes) -> bytes:
    """The event that makes the SDK raise within a stream (chat, completions, responses)."""
    return b"data: " + body + b"\n\n"


_FAILED_RESPONSE: Json = {
    "object": "response",
    "status": FAILED,
    "incomplete_details": None,
    "instructions": None,
    "output": [],
    "tools": [],
    "tool_choice": "auto",
    "parallel_tool_calls": True,
    "metadata": {},
    "temperature": None,
    "top_p": None,
    "usage": None,
}
"""The members that a response must have: Rust programs read none without them."""


def failed_response_event(body: bytes, model: str) -> bytes:
    """The same for Responses: `response.failed`, the only event whose error Codex shows, with the
    error beside it, for which the SDKs raise."""
    document = orjson.loads(body)
    error, known = document["error"], document.get("response")
    code = error.get("code")
    response = {
        "id": f"resp_{uuid4().hex}",
        "created_at": int(time.time()),
        "model": model,
        **_FAILED_RESPONSE,
        "error": {"code": str(code or "server_error"), "message": error["message"]},
        **(known if isinstance(known, dict) else {}),
    }
    event = {"type": "response.failed", "sequence_number": 0, "response": response, "error": error}
    return error_event(orjson.dumps(event))


def is_error_event(document: object) -> bool:
    """Whether the JSON of an event, or of an answer, reports an error; a failed response does."""
    if not isinstance(document, dict):
        return False
    if document.get("type") == "response.failed" or is_failed_response(document):
        return True
    if "choices" in document and _failed_choice(document) is not None:
        return True
    return reported_error(document) is not None


def is_failed_response(document: Json) -> bool:
    """Whether a response, or that of the last event of its stream, has failed."""
    response = document.get("response") or document
    if not isinstance(response, dict) or response.get("status") != FAILED:
        return False
    return response is not document or "output" in document or document.get("object") == "response"


def _failed_choice(document: Json) -> Json | None:
    """The members of the error of a choice (OpenRouter), or of one whose finish reason says that
    the upstream has failed."""
    choices = document.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if not isinstance(choice, dict):
            continue
        reason = choice.get("finish_reason")
        if (error := choice.get("error")) or reason in FAILED_REASONS:
            members = {} if error else {"code": reason}
            members |= error if isinstance(error, dict) else {}
            return {**members, "message": error_text(error) or f"it ended with '{reason}'"}
    return None


# HTTP status by error code or type: those of the API reference, of the events of Responses, and of
# other servers with this dialect.
_STATUSES = {
    **VENDOR_CODES,
    **dict.fromkeys(
        (
            *("invalid_request_error", "invalid_prompt", "context_length_exceeded", "bad_request"),
            *("invalid_value", "invalid_type", "invalid_json", "missing_required_parameter"),
            *("unknown_parameter", "unsupported_parameter", "unsupported_value", "empty_array"),
            *("string_above_max_length", "array_above_max_length", "integer_below_min_value"),
            *("content_policy_violation", "content_filter", "moderation_blocked", "cyber_policy"),
            *("image_generation_user_error", "invalid_image", "invalid_image_format"),
            *("invalid_base64_image", "invalid_image_url", "invalid_image_mode", "image_too_large"),
            *("image_too_small", "image_parse_error", "image_content_policy_violation"),
            *("image_file_too_large", "unsupported_image_media_type", "empty_image_file"),
            *("failed_to_download_image", "image_file_not_found", "previous_response_not_found"),
            *("BadRequestError", "billing_hard_limit_reached"),
        ),
        400,
    ),
    **dict.fromkeys(("invalid_api_key", "authentication_error", "invalid_authentication"), 401),
    **dict.fromkeys(
        (
            *("permission_error", "permission_denied", "insufficient_permissions"),
            "unsupported_country_region_territory",
        ),
        403,
    ),
    **dict.fromkeys(("model_not_found", "not_found_error", "not_found", "NotFoundError"), 404),
    "conflict_error": 409,
    **dict.fromkeys(
        (
            *("rate_limit_exceeded", "rate_limit_error", "rate_limit_reached", "rate_limit"),
            *("requests", "tokens", "insufficient_quota", "quota_exceeded", "too_many_requests"),
        ),
        429,
    ),
    **dict.fromkeys(
        (
            *("server_error", "api_error", "internal_error", "internal_server_error"),
            "InternalServerError",
        ),
        500,
    ),
    **dict.fromkeys(
        (
            *("overloaded_error", "server_is_overloaded", "server_overloaded", "slow_down"),
            *("engine_overloaded", "engine_overloaded_error", "service_unavailable"),
            "service_unavailable_error",
        ),
        503,
    ),
    **dict.fromkeys(("timeout", "timeout_error", "vector_store_timeout"), 504),
}


def stream_error(document: object) -> StreamError | None:
    """An error of a stream, in any form; that of `response.failed` is kept next to its response."""
    if not isinstance(document, dict):
        return None
    response = document.get("response")
    more = {"response": response} if isinstance(response, dict) else {}
    error = error_in(response) or _failed_choice(document) or reported_error(document)
    if error is None:
        error = error_in(document)
    if error is None:
        return None
    status = _status_of(error, document)
    if status is None:
        return None
    kind = error.get("type")
    kind = kind if isinstance(kind, str) else _type_of(status)
    details = {"message": "", "type": kind, "param": None, "code": None, **error}
    details |= {"type": kind, "message": message_in(error)}
    return StreamError(status, {"error": details, **more})


def _status_of(error: Json, document: Json) -> int | None:
    """The HTTP status: a number in the error, else that of its code, else that of its type."""
    code, kind = error.get("code"), error.get("type")
    for value in (code, error.get("status"), error.get("status_code"), document.get("status")):
        if (status := status_in(value)) is not None:
            return status
    for name in (code, kind):
        if isinstance(name, str) and name in _STATUSES:
            return _STATUSES[name]
    return None


def _type_of(status: int) -> str:
    return _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
