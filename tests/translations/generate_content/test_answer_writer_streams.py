"""Streams as server-sent events and as an array."""

from __future__ import annotations

import json

import pytest

from engine.translations.neutral.content import (
    Text,
    ToolCall,
)
from engine.translations.neutral.events import (
    End,
    Finish,
    TokenLogprob,
    Tokens,
)
from engine.values.usage import Usage
from tests.translations.generate_content.answer_writing import (
    END,
    MARKED_CALL,
    block,
    output_of,
    parts_of,
    pieces,
    request,
)
from tests.translations.generate_content.documents import response


def test_the_last_piece_has_the_reason_and_the_usage() -> None:
    end = End(
        finishes={0: Finish(stop="length"), 1: Finish(stop="filter", explanation="no")},
        usage=Usage(input=9, output=5, cached=4, reasoning=2),
    )
    *_, last = pieces([*block(Text(), "a"), end])
    assert [each["finishReason"] for each in last["candidates"]] == ["MAX_TOKENS", "SAFETY"]
    assert last["candidates"][1]["finishMessage"] == "no"
    assert last["usageMetadata"] == {
        "promptTokenCount": 9,
        "candidatesTokenCount": 3,
        "totalTokenCount": 14,
        "cachedContentTokenCount": 4,
        "thoughtsTokenCount": 2,
    }
    assert (last["responseId"], last["modelVersion"]) == ("r", "m")


def test_each_piece_has_a_part() -> None:
    """The SDK's chat leaves an exchange out of its next request if a piece has none."""
    answers = pieces([*block(Text(), "a"), Tokens([TokenLogprob("a", -0.5)]), END])
    contents = [candidate["content"] for each in answers for candidate in each["candidates"]]
    assert len(contents) == 3
    assert all(content["parts"] for content in contents)


def test_log_probabilities_are_the_tokens() -> None:
    tokens = Tokens([TokenLogprob("a", -0.5, [("a", -0.5), ("b", -1.0)])])
    first, *_ = pieces([tokens, END])
    result = response(first).candidates[0].logprobs_result  # type: ignore[index]
    assert result is not None
    assert result.chosen_candidates[0].token == "a"  # type: ignore[index]
    assert [o.token for o in result.top_candidates[0].candidates] == ["a", "b"]  # type: ignore[index,union-attr]


@pytest.mark.parametrize("newline", ["\n", "\r", "\r\n"])
def test_json_that_is_passed_on_stays_in_one_line(newline: str) -> None:
    events = block(ToolCall(id="c", name="f"), f'{{"a":{newline} 1.0{newline}}}')
    assert parts_of(events) == [MARKED_CALL]


def test_a_call_that_was_cut_off_at_the_limit_is_left_out() -> None:
    end = End(finishes={0: Finish(stop="length")})
    cut = [*block(Text(), "a"), *block(ToolCall(id="c", name="f"), '{"a":'), end]
    first, last = pieces(cut)
    assert first["candidates"][0]["content"]["parts"] == [{"text": "a"}]
    assert last["candidates"][0]["content"]["parts"] == [{"text": ""}]
    assert last["candidates"][0]["finishReason"] == "MAX_TOKENS"


def test_an_array_is_json_of_the_same_answers() -> None:
    events = [*block(Text(), "a", "b"), END]
    output = output_of(events, request(as_list=True))
    assert json.loads(output) == pieces(events)
    assert output.endswith(b"}\n]\n")
