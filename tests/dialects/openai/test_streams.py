"""A whole answer in place of a stream: the vendor's SDK reads its events like the answer itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.dialects import get
from tests.support.each import each
from tests.support.sayings import saying_of
from tests.support.sdk_accumulators import as_sdk
from tests.support.translations import CASES

events_of = get("openai").events_of
WHOLE = [
    pytest.param(name, file, id=f"{name}-{file.stem}")
    for name in ("chat_completions", "responses")
    for file in sorted((CASES / name / "upstream").glob("*.json"))
]
NESTED = json.loads("[" * 400 + "]" * 400)
COMPLETION = {
    "id": "cmpl-1",
    "object": "text_completion",
    "choices": [{"index": 0, "text": "hi", "finish_reason": "stop"}],
}


@pytest.mark.parametrize(("name", "file"), WHOLE)
def test_the_sdk_joins_the_events_to_the_answer(name: str, file: Path) -> None:
    body = file.read_bytes()
    joined = as_sdk(name, events_of(json.loads(body)), stream=True)
    assert saying_of(name, joined) == saying_of(name, as_sdk(name, body, stream=False))


def data_of(events: bytes) -> list[Any]:
    lines = [line[6:] for line in events.split(b"\n") if line.startswith(b"data: ")]
    return [line if line == b"[DONE]" else json.loads(line) for line in lines]


def test_members_that_only_a_vendor_knows_are_in_the_events() -> None:
    message = {"role": "assistant", "content": "hi", "reasoning": "hm", "x": 1}
    answer = {"id": "c", "x": 2, "choices": [{"message": message, "matched_stop": 3}]}
    start, end, done = data_of(events_of(answer))
    assert start["choices"] == [
        {"index": 0, "delta": message, "matched_stop": 3, "finish_reason": None}
    ]
    assert (start["x"], end["x"], done) == (2, 2, b"[DONE]")


def test_usage_is_an_event_of_its_own() -> None:
    answer = {"choices": [{"message": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3}}
    *_, usage, _ = data_of(events_of(answer))
    assert (usage["choices"], usage["usage"]) == ([], {"prompt_tokens": 3})


def test_a_completion_is_its_own_event() -> None:
    assert data_of(events_of(COMPLETION)) == [COMPLETION, b"[DONE]"]


@each(("status", "end"), [("incomplete", "response.incomplete"), ("failed", "response.failed")])
def test_a_response_ends_with_the_event_of_its_status(status: str, end: str) -> None:
    answer = {"object": "response", "status": status, "output": []}
    start, last = data_of(events_of(answer))
    assert (start["type"], last["type"]) == ("response.created", end)
    assert (start["response"]["status"], last["response"]) == ("in_progress", answer)


def test_a_refusal_is_streamed_as_one() -> None:
    part = {"type": "refusal", "refusal": "no"}
    item = {"type": "message", "id": "m", "content": [part]}
    answer = {"object": "response", "status": "completed", "output": [item, {"type": "x"}]}
    events = data_of(events_of(answer))
    kinds = [event["type"].removeprefix("response.") for event in events]
    assert kinds[1:6] == [
        *("output_item.added", "content_part.added", "refusal.delta", "refusal.done"),
        "content_part.done",
    ]
    assert events[3]["delta"] == "no"
    assert [event["sequence_number"] for event in events] == list(range(len(events)))


@each(
    "answer",
    [
        None,
        [],
        "hi",
        {},
        {"error": {"message": "no"}},
        {"choices": None},
        {"choices": [{}]},
        {"choices": [{"message": None}]},
        {"object": "response", "status": "queued"},
        {"object": "response", "status": ["completed"]},
        {"object": "list", "data": []},
    ],
)
def test_another_text_is_no_answer(answer: Any) -> None:
    assert events_of(answer) == b""


@each(
    "answer",
    [
        {"choices": [{"message": {"content": "hi", "x": NESTED}}]},
        {"object": "response", "status": "completed", "output": [], "x": NESTED},
    ],
)
def test_an_answer_that_is_nested_too_deeply_stays_whole(answer: Any) -> None:
    assert events_of(answer) == b""


@each(
    "answer",
    [
        {"choices": [{"message": {"tool_calls": {"a": 1}}}, 7]},
        {"object": "response", "status": "completed", "output": [7, {"type": "message"}]},
        {"object": "response", "status": "completed", "output": {"a": 1}},
    ],
)
def test_odd_members_are_read_over(answer: Any) -> None:
    assert data_of(events_of(answer))
