"""Reasons why an answer ended."""

from __future__ import annotations

import pytest
from google.genai import types

from engine.translations.generate_content.finish import read_finish, write_finish
from engine.translations.neutral.events import BrokenAnswer, Finish, Stop
from tests.support.each import each

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
    known = ENDS | LENGTH | FILTERS | FAILURES | {"FINISH_REASON_UNSPECIFIED"}
    assert {reason.value for reason in types.FinishReason} == known


@each(
    ("reasons", "stop", "stop_with_calls"),
    [
        (ENDS, "end", "tool_calls"),
        (LENGTH, "length", "length"),
        (FILTERS, "filter", "filter"),
        (FAILURES | {"OF_TOMORROW"}, "end", "tool_calls"),
    ],
)
def test_a_reason_is_a_stop(reasons: set[str], stop: Stop, stop_with_calls: Stop) -> None:
    for reason in reasons:
        finish = read_finish(reason, "words", calls=False, content=True)
        assert (finish.stop, finish.native) == (stop, reason)
        assert finish.explanation == ("words" if stop == "filter" else "")
        assert read_finish(reason, "", calls=True, content=True).stop == stop_with_calls


def test_a_failure_without_content_is_no_answer() -> None:
    for reason in (*FAILURES, "OF_TOMORROW"):
        with pytest.raises(BrokenAnswer, match=f"ended with {reason} and no content"):
            read_finish(reason, "", calls=False, content=False)
    for reason in ENDS | LENGTH | FILTERS:
        assert read_finish(reason, "", calls=False, content=False).native == reason


@each(
    ("finish", "refused", "written"),
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
def test_a_stop_is_a_reason(finish: Finish, refused: bool, written: dict[str, str]) -> None:
    assert write_finish(finish, has_refusal=refused) == written
