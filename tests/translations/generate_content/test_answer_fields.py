"""Reasons why an answer ended, its tokens and their log probabilities."""

from __future__ import annotations

import pytest
from google.genai import types

from engine.translations.generate_content.answer_fields import (
    read_finish,
    write_finish,
    write_usage,
)
from engine.translations.neutral.answer import Answer
from engine.translations.neutral.events import BrokenAnswer, Finish, Stop
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
