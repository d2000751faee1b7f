"""Reasons why an answer ended, its tokens and their log probabilities."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.genai import types

from engine.translations.generate_content.answer_fields import (
    ERRORS,
    documented,
    read_error,
    read_finish,
    write_finish,
    write_usage,
)
from engine.translations.generate_content.answer_reader import Reader
from engine.translations.neutral.answer import Answer
from engine.translations.neutral.events import BrokenAnswer, Finish, Stop, UpstreamError
from engine.translations.neutral.json_members import WrongType
from engine.values.usage import Usage
from tests.support.each import each
from tests.translations.generate_content.documents import piece, read, text

ENDS = {"STOP"}
LENGTH = {"MAX_TOKENS", "CONTINUATION"}
FILTERS = {
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "MODEL_ARMOR",
    "ESCALATION",
    "PUP_LIMITED_DISABLED",
}
FAILURES = {
    "OTHER",
    "MALFORMED_FUNCTION_CALL",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MISSING_THOUGHT_SIGNATURE",
    "MALFORMED_RESPONSE",
    "NO_IMAGE",
    "IMAGE_OTHER",
}


def test_every_reason_of_the_sdk_is_known() -> None:
    reasons = ENDS | LENGTH | FILTERS | FAILURES | {"FINISH_REASON_UNSPECIFIED"}
    assert {reason.value for reason in types.FinishReason} == reasons


@each(
    ("reasons", "stop"),
    [
        (ENDS, "end"),
        (LENGTH, "length"),
        (FILTERS, "filter"),
        (FAILURES | {"OF_TOMORROW"}, "end"),
    ],
)
def test_a_reason_is_a_stop(reasons: set[str], stop: Stop) -> None:
    for reason in reasons:
        finish = read_finish(reason, "words", content=True)
        assert (finish.stop, finish.native) == (stop, reason)
        assert finish.explanation == ("words" if stop == "filter" else "")


def test_a_failure_without_content_is_no_answer() -> None:
    for reason in (*FAILURES, "OF_TOMORROW"):
        with pytest.raises(BrokenAnswer, match=f"ended with {reason} and no content"):
            read_finish(reason, "", content=False)
    for reason in ENDS | LENGTH | FILTERS:
        assert read_finish(reason, "", content=False).native == reason


@each(
    ("finish", "has_refusal", "expected"),
    [
        (Finish(stop="end"), False, {"finishReason": "STOP"}),
        (Finish(stop="tool_calls"), False, {"finishReason": "STOP"}),
        (Finish(stop="stop_sequence", sequence="x"), False, {"finishReason": "STOP"}),
        (Finish(stop="pause"), False, {"finishReason": "STOP"}),
        (Finish(stop="length"), False, {"finishReason": "MAX_TOKENS"}),
        (Finish(stop="end"), True, {"finishReason": "SAFETY"}),
        (
            Finish(stop="filter", explanation="no"),
            False,
            {"finishReason": "SAFETY", "finishMessage": "no"},
        ),
    ],
)
def test_a_stop_is_a_reason(finish: Finish, has_refusal: bool, expected: dict[str, str]) -> None:
    assert write_finish(finish, has_refusal=has_refusal) == expected


@each(
    ("usage", "counts"),
    [
        (Usage(), (0, 0, None, None, 0)),
        (Usage(input=9, output=5, cached=4, reasoning=2), (9, 3, 4, 2, 14)),
        (Usage(input=9, output=5, reasoning=7), (9, 0, None, 7, 14)),
        (Usage(input=9, cache_write=4, output=5), (9, 5, None, None, 14)),
    ],
)
def test_usage_is_read_by_the_sdk(usage: Usage, counts: tuple[int | None, ...]) -> None:
    metadata = write_usage(usage)["usageMetadata"]
    report = types.GenerateContentResponseUsageMetadata.model_validate(metadata)
    assert counts == (
        report.prompt_token_count,
        report.candidates_token_count,
        report.cached_content_token_count,
        report.thoughts_token_count,
        report.total_token_count,
    )


def test_no_usage_is_no_member() -> None:
    assert write_usage(None) == {}


def test_log_probabilities() -> None:
    result = {
        "chosenCandidates": [
            {"token": "a", "logProbability": -0.5},
            {"token": "b", "logProbability": -1},
        ],
        "topCandidates": [{"candidates": [{"token": "a", "logProbability": -0.5}]}],
    }
    answer: Answer = read(piece(text("ab"), finish="STOP", logprobsResult=result))
    first, second = answer.candidates[0].logprobs
    assert (first.token, first.logprob, first.top) == ("a", -0.5, [("a", -0.5)])
    assert (second.token, second.logprob, second.top) == ("b", -1.0, [])


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


SNAKE = {
    "candidates": [
        {
            "finish_reason": "STOP",
            "content": {"parts": [{"thought_signature": "s", "text": "finish_reason"}]},
        }
    ],
    "usage_metadata": {"prompt_token_count": 3},
}


def test_members_get_their_documented_names():
    assert json.loads(documented(json.dumps(SNAKE).encode())) == {
        "candidates": [
            {
                "finishReason": "STOP",
                "content": {"parts": [{"thoughtSignature": "s", "text": "finish_reason"}]},
            }
        ],
        "usageMetadata": {"prompt_token_count": 3},
    }


@pytest.mark.parametrize(
    "text", [b'{"finishReason": 1.0}', b'{"text": "a_b"}', b'{"args": {"my_name": 1}}', b"[ 1 ]"]
)
def test_other_answers_keep_their_text(text):
    assert documented(text) is text


def test_arguments_of_a_call_keep_their_names():
    call = {"functionCall": {"name": "f", "args": {"finish_reason": 1}}, "thought_signature": "s"}
    answer = {"candidates": [{"content": {"parts": [call]}}]}
    (part,) = json.loads(documented(json.dumps(answer).encode()))["candidates"][0]["content"][
        "parts"
    ]
    assert part["functionCall"]["args"] == {"finish_reason": 1}


def test_what_is_no_object_is_refused():
    with pytest.raises(WrongType):
        documented(b'{"finish_reason": ')
