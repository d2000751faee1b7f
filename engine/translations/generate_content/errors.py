"""Errors of the vendor's (google.rpc.Status)."""

from __future__ import annotations

import re
from typing import Any

from engine.translations.neutral.events import UpstreamError
from engine.translations.upstream_errors import AnswerErrors, error_members, error_of

_KEY_REASONS = ("API_KEY_INVALID", "API_KEY_EXPIRED")
_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)s")


def read_error(status: int, document: Any) -> UpstreamError:
    """The error in an error response; `document` is its JSON, None for none."""
    error = error_of(status, document, ("status",))
    error.code = error.code.lower()
    details = error_members(document).get("details")
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, dict):
            if detail.get("reason") in _KEY_REASONS:
                error.status = 401
            error.retry_after = _seconds(detail.get("retryDelay")) or error.retry_after
    return error


ERRORS = AnswerErrors("gemini", read_error)


def _seconds(text: Any) -> float | None:
    """The seconds in a duration such as `12.5s` (google.protobuf.Duration)."""
    match = _DURATION.fullmatch(text) if isinstance(text, str) else None
    return float(match[1]) if match is not None else None
