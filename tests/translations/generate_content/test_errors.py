"""The vendor's errors."""

from __future__ import annotations

from typing import Any

import pytest

from engine.translations.generate_content.answer_reader import Reader
from engine.translations.generate_content.errors import ERRORS, read_error
from engine.translations.neutral.events import UpstreamError
from tests.support.each import each

RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37.5s"}
KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}


@each(
    ("status", "document", "read"),
    [
        (
            404,
            {"error": {"code": 404, "message": "no model", "status": "NOT_FOUND"}},
            (404, "no model", "not_found", None),
        ),
        (429, [{"error": {"details": [RETRY]}}], (429, "", "", 37.5)),
        (400, {"error": {"details": [KEY]}}, (401, "", "", None)),
        (403, {"error": {"details": [KEY]}}, (401, "", "", None)),
        (502, {"error": "down"}, (502, "down", "", None)),
        (500, None, (500, "", "", None)),
        (500, [], (500, "", "", None)),
        (500, [1], (500, "", "", None)),
        (500, {"error": {"message": 1, "status": 2, "details": 3}}, (500, "", "", None)),
        (500, {"error": {"details": [1, {"retryDelay": 5}]}}, (500, "", "", None)),
    ],
)
def test_an_error_response(status: int, document: Any, read: tuple[Any, ...]) -> None:
    error = read_error(status, document)
    assert (error.status, error.message, error.code, error.retry_after) == read


@each(
    ("delay", "seconds"),
    [
        ("3s", 3.0),
        ("0.250s", 0.25),
        ("0s", None),
        ("-3s", None),
        ("1e999s", None),
        ("nans", None),
        ("soon", None),
        ("", None),
    ],
)
def test_a_delay_is_a_bounded_number_of_seconds(delay: str, seconds: float | None) -> None:
    error = read_error(429, {"error": {"details": [{"retryDelay": delay}]}})
    assert error.retry_after == seconds


@each(
    ("error", "status"),
    [
        ({"code": 503, "message": "m", "status": "UNAVAILABLE"}, 503),
        ({"code": 400, "status": "RESOURCE_EXHAUSTED"}, 429),
        ({"code": 418}, 418),
        ({"code": 200}, 502),
        ({"code": "503"}, 503),
        ({"code": True}, 502),
        ("words", 502),
        (None, 502),
    ],
)
def test_an_error_in_a_stream_has_its_status_inside(error: Any, status: int) -> None:
    assert ERRORS.inside({"error": error}).status == status


def test_an_error_that_is_no_json_is_one_without_words() -> None:
    with pytest.raises(UpstreamError) as excinfo:
        list(Reader().read(b'{"error":{"message":"\xff"}}'))
    assert (excinfo.value.status, excinfo.value.message) == (502, "")
