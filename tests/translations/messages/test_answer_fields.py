"""Errors of the vendor."""

from __future__ import annotations

from typing import Any

from engine.translations.messages.answer_fields import read_error
from tests.support.each import each


@each(
    ("document", "message", "code"),
    [
        (
            {"type": "error", "error": {"type": "rate_limit_error", "message": "Slow down"}},
            "Slow down",
            "rate_limit_error",
        ),
        ({"error": {"message": 5, "type": None}}, "", ""),
        ({"error": "odd"}, "odd", ""),
        ({"message": "Wait a little."}, "Wait a little.", ""),
        ({"detail": "x"}, "x", ""),
        (None, "", ""),
        ([1], "", ""),
    ],
)
def test_error_responses(document: Any, message: str, code: str) -> None:
    error = read_error(429, document)
    assert (error.status, error.message, error.code) == (429, message, code)
