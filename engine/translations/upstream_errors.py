"""Errors of upstreams, in error responses and where an answer is expected.

They are read in any of the forms of `dialects/interface/error_forms.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from msgspec import Raw

from engine import dialects
from engine.dialects.interface.error_forms import error_text, reported_error, wait_in
from engine.translations.neutral.events import UpstreamError
from engine.values.event_json import json_or_none

ErrorReader = Callable[[int, Any], UpstreamError]
"""Reads the JSON of an error response with a status; None for one that is not JSON."""

_NO_ERRORS = frozenset((b"", b"null", b"{}", b"[]", b'""', b"false", b"0"))


def error_members(document: Any) -> dict[str, Any]:
    """The members of the error in the JSON of an error response or of an event; a list may hold
    it."""
    if isinstance(document, list):
        document = document[0] if document else None
    if not isinstance(document, dict):
        return {"message": document}
    return reported_error(document) or document


def error_of(status: int, document: Any, words: tuple[str, ...]) -> UpstreamError:
    """The error in an error response. Its code is the first of the members called `words` that is
    a text."""
    members = error_members(document)
    message = members.get("message")
    if not isinstance(message, str) or not message:
        message = error_text(members)
    texts = (word for name in words if isinstance(word := members.get(name), str) and word)
    error = UpstreamError(status, message, next(texts, ""))
    error.retry_after = wait_in(document)
    return error


@dataclass(frozen=True, slots=True)
class AnswerErrors:
    """Finds errors where an answer of a dialect is expected; `read` reads those of its error
    responses."""

    dialect: str
    read: ErrorReader

    def inside(self, document: Any) -> UpstreamError:
        """The error in the JSON of an event, or of an answer with a status of success."""
        return self.read(dialects.event_status(self.dialect, document), document)

    def refuse(self, data: bytes) -> None:
        """Raise UpstreamError if an event, or an answer, without content reports an error."""
        document = json_or_none(data)
        if reported_error(document) is not None:
            raise self.inside(document)


def is_error(member: Raw) -> bool:
    """Whether the member `error` of an answer has one: some servers write it empty."""
    return bytes(member).strip() not in _NO_ERRORS
