"""Answers -> neutral events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.translations.generate_content.answer_reader import Reader, read_answer
from engine.translations.neutral.answer import collect
from engine.translations.neutral.content import Foreign, Media, Reasoning, Text, ToolCall
from engine.translations.neutral.events import BrokenAnswer, Start, UpstreamError
from engine.translations.neutral.json_members import WrongType
from tests.support.each import each
from tests.translations.generate_content.documents import Json, events_of, piece, read, text

DONE = piece(text("a"), finish="STOP")


def test_an_answer_says_its_id_and_model() -> None:
    (start, *_) = events_of(DONE | {"responseId": "r1", "modelVersion": "gemini-3-pro"})
    assert start == Start(id="r1", model="gemini-3-pro")


@each(
    "data",
    [b"", b" ", b"null", b"1", b'"text"', b"true", b"{", b"[{]", b"[1", b"\xff", b"[" * 20_000],
)
def test_what_is_no_answer_breaks_the_stream(data: bytes) -> None:
    with pytest.raises(WrongType):
        list(Reader().read(data))


def test_an_answer_may_be_wrapped_in_a_list_with_nothing_beside_it() -> None:
    assert read([None, "x", 1, DONE, []]) == read(DONE)


def test_a_streamed_array_in_one_piece_is_one_answer() -> None:
    answer = read([piece(text("a")), piece(text("b"), finish="STOP")])
    assert answer.candidates[0].blocks == [Text(text="ab")]


@each("documents", [[], [{}], [[]], [{"usageMetadata": {"promptTokenCount": 1}}]])
def test_a_stream_without_a_candidate_is_broken(documents: list[Any]) -> None:
    with pytest.raises(BrokenAnswer, match="without a candidate"):
        read(*documents)


def test_a_blocked_prompt_is_an_answer_that_was_filtered() -> None:
    answer = read({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}})
    (candidate,) = answer.candidates
    assert (candidate.blocks, candidate.finish.stop) == ([], "filter")
    assert candidate.finish.native == "PROHIBITED_CONTENT"
    assert candidate.finish.explanation == "The prompt was blocked (PROHIBITED_CONTENT)."


@each("reason", ["BLOCK_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED", "", None])
def test_feedback_without_a_reason_blocks_nothing(reason: str | None) -> None:
    feedback: Json = {"promptFeedback": {"blockReason": reason, "safetyRatings": []}}
    assert read(feedback, DONE) == read(DONE)


def test_several_candidates_are_told_apart_by_their_index() -> None:
    answer = read(
        piece(text("a"), index=1),
        piece(text("b")),
        piece(text("c"), index=1, finish="STOP"),
        piece(finish="MAX_TOKENS"),
    )
    first, second = answer.candidates
    assert (first.blocks, first.finish.stop) == ([Text(text="b")], "length")
    assert (second.blocks, second.finish.stop) == ([Text(text="ac")], "end")


def test_the_first_finish_reason_counts_and_what_follows_the_end_nothing() -> None:
    reader = Reader()
    events = [*reader.read(b'{"candidates":[{"finishReason":"STOP"}]}')]
    events += reader.read(b'{"candidates":[{"finishReason":"SAFETY"}]}')
    events += [*reader.end(), *reader.end(), *reader.read(b'{"candidates":[{}]}')]
    assert collect(events).candidates[0].finish.native == "STOP"


def test_an_error_in_an_answer_is_the_upstreams() -> None:
    for data in (b'{"error":{"code":503,"message":"busy"}}', b'[{"error":{"code":503}}]'):
        with pytest.raises(UpstreamError) as excinfo:
            list(read_answer(data))
        assert excinfo.value.status == 503


SNAKE: Json = {
    "response_id": "r1",
    "model_version": "gemini-3-pro",
    "usage_metadata": {"prompt_token_count": 3},
    "candidates": [
        {
            "finish_reason": "STOP",
            "content": {
                "parts": [
                    {"text": "hm", "thought": True, "thought_signature": "c2ln"},
                    {"inline_data": {"mime_type": "image/png", "data": "QQ=="}},
                    {"function_call": {"name": "f", "args": {"file_data": {"model_version": 1}}}},
                    {"executable_code": {"code": "1"}},
                ]
            },
        }
    ],
}
CAMEL: Json = {
    "responseId": "r1",
    "modelVersion": "gemini-3-pro",
    "usageMetadata": {"promptTokenCount": 3},
    "candidates": [
        {
            "finishReason": "STOP",
            "content": {
                "parts": [
                    {"text": "hm", "thought": True, "thoughtSignature": "c2ln"},
                    {"inlineData": {"mimeType": "image/png", "data": "QQ=="}},
                    {"functionCall": {"name": "f", "args": {"file_data": {"model_version": 1}}}},
                    {"executableCode": {"code": "1"}},
                ]
            },
        }
    ],
}


def test_an_answer_in_snake_case_is_the_same_as_in_the_document() -> None:
    snake, camel = read(SNAKE), read(CAMEL)
    kinds = [type(block) for block in snake.candidates[0].blocks]
    assert kinds == [Reasoning, Media, ToolCall, Foreign]
    assert [snake.id, snake.usage, snake.candidates] == [camel.id, camel.usage, camel.candidates]


def test_what_is_not_asked_for_may_have_any_value() -> None:
    odd = piece(text("a"), safetyRatings=5, tokenCount="x") | {"createTime": [], "responseId": "r"}
    again = piece(text("b"), finish="STOP", groundingMetadata=None) | {"responseId": 5}
    assert read(odd, again).candidates[0].blocks == [Text(text="ab")]


@pytest.mark.parametrize("ends", [("STOP", ""), ("", "STOP"), ("", "")])
def test_each_of_several_candidates_has_an_end_if_one_has(ends: tuple[str, str]) -> None:
    candidates = [
        {
            "index": index,
            "content": {"parts": [{"text": "a"}]},
            **({"finishReason": e} if e else {}),
        }
        for index, e in enumerate(ends)
    ]
    body = json.dumps({"candidates": candidates}).encode()
    if not any(ends):
        assert len(collect(read_answer(body)).candidates) == 2
        return
    with pytest.raises(BrokenAnswer, match="without a finish reason"):
        collect(read_answer(body))


def test_a_prompt_that_is_blocked_behind_text_ends_it() -> None:
    feedback = b'{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}'
    (candidate,) = read(piece(text("a")), feedback).candidates
    assert (candidate.blocks, candidate.finish.stop) == ([Text(text="a")], "filter")
    assert candidate.finish.native == "PROHIBITED_CONTENT"
