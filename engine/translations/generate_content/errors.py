"""Errors of the vendor's (google.rpc.Status)."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from engine import dialects
from engine.translations.neutral.events import UpstreamError

_KEY_REASONS = ("API_KEY_INVALID", "API_KEY_EXPIRED")
_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)s")


def read_error(status: int, document: Any) -> UpstreamError:
    """The error in an error response; `document` is its JSON, None for none. A list may hold it."""
    if isinstance(document, list):
        document = document[0] if document else None
    error = document.get("error") if isinstance(document, dict) else None
    if not isinstance(error, dict):
        return UpstreamError(status, error if isinstance(error, str) else "")
    word, message, retry_after = error.get("status"), error.get("message"), None
    details = error.get("details")
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, dict):
            if detail.get("reason") in _KEY_REASONS:
                status = 401
            retry_after = _seconds(detail.get("retryDelay")) or retry_after
    return UpstreamError(
        status,
        message if isinstance(message, str) else "",
        word.lower() if isinstance(word, str) else "",
        retry_after,
    )


def stream_error(error: bytes) -> UpstreamError:
    """The error that an event of a stream is, or an answer whose status says nothing of it;
    `error` is the JSON of its member `error`."""
    try:
        value = msgspec.json.decode(error)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        value = None
    document = {"error": value}
    return read_error(dialects.event_status("gemini", document), document)


def _seconds(text: Any) -> float | None:
    """The seconds in a duration such as `12.5s` (google.protobuf.Duration)."""
    match = _DURATION.fullmatch(text) if isinstance(text, str) else None
    return float(match[1]) if match is not None else None
