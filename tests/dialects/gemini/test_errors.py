"""Errors of the Gemini dialect."""

import pytest

from engine import dialects
from tests.support.dialects import error_of


@pytest.mark.parametrize(
    ("status", "word"),
    [
        (400, "INVALID_ARGUMENT"),
        (401, "UNAUTHENTICATED"),
        (403, "PERMISSION_DENIED"),
        (404, "NOT_FOUND"),
        (405, "INVALID_ARGUMENT"),
        (413, "INVALID_ARGUMENT"),
        (429, "RESOURCE_EXHAUSTED"),
        (500, "INTERNAL"),
        (501, "UNIMPLEMENTED"),
        (502, "UNAVAILABLE"),
        (503, "UNAVAILABLE"),
        (504, "DEADLINE_EXCEEDED"),
        (529, "UNAVAILABLE"),
    ],
)
def test_gemini_has_the_status_as_number_and_word_and_our_code_as_reason(status, word):
    inner = error_of("gemini", status)["error"]
    assert (inner["code"], inner["status"], inner["message"]) == (status, word, "What went wrong.")
    assert type(inner["code"]) is int
    assert inner["details"][0]["reason"] == "some_code"
    assert inner["details"][0]["@type"] == "type.googleapis.com/google.rpc.ErrorInfo"
    assert all(isinstance(inner[name], str) for name in ("message", "type", "status"))


def test_a_gemini_error_in_an_array_is_an_error():
    assert dialects.get("gemini").is_error([{"error": {"code": 400, "message": "x"}}])
    assert not dialects.get("gemini").is_error([{"error": {"code": "400", "message": "x"}}])


@pytest.mark.parametrize("code", [True, 4.5, None, "400"])
def test_a_gemini_error_needs_an_integer_as_code(code):
    """The vendor's SDK raises TypeError on it."""
    assert not dialects.get("gemini").is_error({"error": {"code": code, "message": "x"}})


def test_a_gemini_error_needs_a_message():
    assert not dialects.get("gemini").is_error({"error": {"code": 400}})
