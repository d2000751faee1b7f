"""Usage and errors in answers of OpenAI's languages."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.json import Decoder

from engine.translations.chat_completions import answer_fields as chat_fields
from engine.translations.chat_completions.answer_shapes import Counts as ChatCounts
from engine.translations.neutral.events import Usage
from engine.translations.neutral.members import WrongType
from engine.translations.neutral.shapes import read_shape
from engine.translations.openai_answer_fields import error_inside, read_error
from engine.translations.responses import answer_fields as responses_fields
from engine.translations.responses.answer_shapes import Counts as ResponsesCounts
from tests.support.each import each

CHAT = Decoder(ChatCounts)
RESPONSES = Decoder(ResponsesCounts)


def read(counts: dict[str, Any]) -> Usage | None:
    return chat_fields.read_counts(read_shape(CHAT, json.dumps(counts).encode()))


@each(
    ("counts", "usage"),
    [
        ({"prompt_tokens": 5, "completion_tokens": 2}, Usage(input=5, output=2)),
        ({"prompt_tokens": 5, "completion_tokens": None}, Usage(input=5)),
        ({"prompt_tokens": -5, "completion_tokens": 2}, Usage(output=2)),
        ({"prompt_tokens": None, "completion_tokens": None}, None),
        ({}, None),
        (
            {
                "prompt_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 1},
                "completion_tokens": 4,
                "completion_tokens_details": {"reasoning_tokens": 2},
            },
            Usage(input=5, output=4, cached=3, cache_write=1, reasoning=2),
        ),
        (
            {"prompt_tokens": 5, "completion_tokens": 2, "prompt_cache_hit_tokens": 4},
            Usage(input=5, output=2, cached=4),
        ),
        (
            {"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": None}},
            Usage(input=5),
        ),
    ],
)
def test_usage(counts: dict[str, Any], usage: Usage | None) -> None:
    assert read(counts) == usage


def test_counts_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(WrongType, match="prompt_tokens"):
        read({"prompt_tokens": "many"})


USAGE = Usage(input=9, output=4, cached=3, cache_write=1, reasoning=2)


def test_usage_of_chat_completions_survives() -> None:
    counts_written = chat_fields.write_counts(USAGE)
    assert counts_written["total_tokens"] == 13
    assert read(counts_written) == USAGE


def test_usage_of_responses_survives() -> None:
    counts_written = responses_fields.write_counts(USAGE)
    assert counts_written["total_tokens"] == 13
    counts = read_shape(RESPONSES, json.dumps(counts_written).encode())
    assert responses_fields.read_counts(counts) == USAGE


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
    assert error_inside({"error": error}).status == status
