"""Errors of the vendor's (google.rpc.Status)."""

from __future__ import annotations

from typing import Any

from engine.translations.neutral.events import UpstreamError
from engine.translations.upstream_errors import AnswerErrors, error_members, error_of

_KEY_REASONS = ("API_KEY_INVALID", "API_KEY_EXPIRED")


def read_error(status: int, document: Any) -> UpstreamError:
    """The error in an error response; `document` is its JSON, None for none."""
    error = error_of(status, document, ("status",))
    error.code = error.code.lower()
    details = error_members(document).get("details")
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, dict) and detail.get("reason") in _KEY_REASONS:
            error.status = 401
    return error


ERRORS = AnswerErrors("gemini", read_error)
