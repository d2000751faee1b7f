"""Usage and errors in answers of OpenAI's languages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.dialects.openai.usage import usage_of
from engine.translations.chat_completions import answer_fields as chat_fields
from engine.translations.responses import answer_fields as responses_fields
from engine.translations.vendors.openai_content import ERRORS, read_error
from engine.values.usage import Usage
from tests.support.each import each

USAGE = Usage(input=9, output=4, cached=3, cache_write=1, reasoning=2, source="upstream")


@each("write", [chat_fields.write_counts, responses_fields.write_counts])
def test_usage_is_written_as_the_dialect_reads_it(write: Callable[[Usage], dict[str, Any]]) -> None:
    assert usage_of({"usage": write(USAGE)}) == USAGE
    assert write(USAGE)["total_tokens"] == 13


@each(
    ("document", "expected"),
    [
        ({"error": {"message": "m", "type": "t", "code": "c"}}, ("m", "c")),
        ({"error": {"message": "m", "type": "t", "code": None}}, ("m", "t")),
        ({"error": {"message": "m", "type": "t", "code": 400}}, ("m", "t")),
        ({"error": "m"}, ("m", "")),
        ({"message": "m", "type": "t"}, ("m", "t")),
        ({"detail": "m"}, ("m", "")),
        ({"detail": [{"loc": []}]}, ("", "")),
        ({"error": {"message": {"a": 1}, "code": []}}, ("", "")),
        ({"type": "error", "message": "m", "code": None}, ("m", "")),
        ([], ("", "")),
        (None, ("", "")),
    ],
)
def test_errors(document: Any, expected: tuple[str, str]) -> None:
    error = read_error(418, document)
    assert (error.status, error.message, error.code) == (418, *expected)


@each(
    ("error", "status"),
    [
        ({"code": "rate_limit_exceeded"}, 429),
        ({"code": None, "type": "invalid_request_error"}, 400),
        ({"code": "new_word", "type": "authentication_error"}, 401),
        ({"code": "image_too_large"}, 400),
        ({"code": "invalid_image_url"}, 400),
        ({"code": "server_error"}, 500),
        ({"code": 503}, 503),
        ({"code": "503"}, 503),
        ({"code": 200}, 502),
        ({"code": "²²²"}, 502),
        ({"code": True}, 502),
        ("words", 502),
        (None, 502),
    ],
)
def test_the_code_of_an_error_inside_an_answer_says_its_status(error: Any, status: int) -> None:
    assert ERRORS.inside({"error": error}).status == status
