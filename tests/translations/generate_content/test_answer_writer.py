"""Answers in one piece, read by the SDK."""

from __future__ import annotations

from engine.translations.generate_content.answer_writer import write_answer
from engine.translations.neutral.answer import Answer, Candidate
from engine.translations.neutral.content import Refusal, Text, ToolCall
from engine.translations.neutral.events import End, Finish, TokenLogprob
from engine.values.usage import Usage
from tests.translations.generate_content.answer_writing import END, block, json_of, pieces, request
from tests.translations.generate_content.documents import response


def test_an_answer_has_its_candidates_and_its_usage() -> None:
    candidates = [
        Candidate([Text(text="a")], Finish(stop="end"), [TokenLogprob("a", -0.5)]),
        Candidate([], Finish(stop="length")),
    ]
    answer = Answer(id="", model="", created=0, candidates=candidates, usage=Usage(input=9))
    read = response(write_answer(answer, request()))
    first, second = read.candidates or []
    assert (first.index, second.index) == (0, 1)
    assert (first.finish_reason, second.finish_reason) == ("STOP", "MAX_TOKENS")
    assert first.logprobs_result is not None
    assert second.logprobs_result is None
    assert read.usage_metadata is not None
    assert (read.text, read.usage_metadata.prompt_token_count) == ("a", 9)
    assert (read.response_id, read.model_version) == ("q", "m")


def test_a_call_that_was_cut_off_at_the_limit_is_left_out() -> None:
    end = End(finishes={0: Finish(stop="length")})
    cut = [*block(Text(), "a"), *block(ToolCall(id="c", name="f"), '{"a":'), end]
    candidate = json_of(cut)["candidates"][0]
    assert candidate["content"]["parts"] == [{"text": "a"}]
    assert candidate["finishReason"] == "MAX_TOKENS"


def test_words_of_refusal_end_the_answer_for_safety() -> None:
    *_, last = pieces([*block(Refusal(), "no"), END])
    assert last["candidates"][0]["finishReason"] == "SAFETY"
    assert json_of([*block(Refusal(), "no"), END])["candidates"][0]["finishReason"] == "SAFETY"
