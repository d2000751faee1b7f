"""A stream that answers a relayed request for an answer in one piece is put together."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.exchange.outcome import Outcome
from tests.support.answering import Answered
from tests.support.each import each
from tests.support.upstreams import EVENTS, JSON

CHAT = [
    {"id": "c1", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "he"}}]},
    {"id": "c1", "choices": [{"index": 0, "delta": {"content": "llo"}}]},
    {"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    {"id": "c1", "choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 50}},
]
LINES = b"\n".join(json.dumps({"object": "chat.completion.chunk", **o}).encode() for o in CHAT)
ARRAY = json.dumps(CHAT).encode()
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "c",
    "content": [],
    "stop_reason": None,
    "usage": {"input_tokens": 100, "output_tokens": 1},
}
MESSAGES = [
    {"type": "message_start", "message": MESSAGE},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hello"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 50}},
    {"type": "message_stop"},
]
ITEM = {
    "type": "message",
    "id": "msg_7",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "hello", "annotations": []}],
}
SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {}}
RESPONSE: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "model": "m",
    "status": "completed",
    "output": [SEARCH, ITEM],
    "usage": {"input_tokens": 100, "output_tokens": 50, "total_tokens": 150},
}


def sse(*events: Any, done: bool = False) -> bytes:
    data = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    return data + (b"data: [DONE]\n\n" if done else b"")


def response_events(response: dict[str, Any]) -> bytes:
    head = {**response, "status": "in_progress", "output": []}
    return sse(
        {"type": "response.created", "response": head},
        {"type": "response.output_item.added", "output_index": 1, "item": {**ITEM, "content": []}},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "hello"},
        {"type": "response.output_item.done", "output_index": 1, "item": ITEM},
        {"type": "response.completed", "response": response},
    )


def answer(headers: Any, *pieces: bytes, dialect: str = "openai", path: str = "") -> Answered:
    path = path or "/v1/chat/completions"
    return Answered(dialect, headers, *pieces, body={"model": "m"}, path=path)


@each("headers", [EVENTS, JSON, [], [("content-type", "text/plain")]])
@pytest.mark.parametrize("data", [sse(*CHAT, done=True), ARRAY], ids=["events", "array"])
def test_a_chat_comes_in_one_piece(data: bytes, headers: Any) -> None:
    answered = answer(headers, data)
    choice = json.loads(answered.data)["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("hello", "stop")
    assert (answered.kind, answered.outcome) == ("application/json", Outcome.COMPLETE)
    assert (answered.usage.input, answered.usage.output) == (100, 50)


@each("kind", ["application/x-ndjson", "text/event-stream"])
def test_lines_of_json_come_in_one_piece(kind: str) -> None:
    answered = answer([("content-type", kind)], LINES)
    assert json.loads(answered.data)["choices"][0]["message"]["content"] == "hello"


def test_a_message_comes_in_one_piece() -> None:
    answered = answer(EVENTS, sse(*MESSAGES), dialect="anthropic", path="/v1/messages")
    message = json.loads(answered.data)
    assert message["content"] == [{"type": "text", "text": "hello"}]
    assert (message["stop_reason"], message["usage"]["output_tokens"]) == ("end_turn", 50)


def test_a_response_is_the_one_of_the_last_event() -> None:
    answered = answer(EVENTS, response_events(RESPONSE), path="/v1/responses")
    assert json.loads(answered.data) == RESPONSE
    assert answered.usage.output == 50


def test_a_response_without_its_output_is_put_together() -> None:
    empty = {**RESPONSE, "output": []}
    answered = answer(EVENTS, response_events(empty), path="/v1/responses")
    assert json.loads(answered.data)["output"][0]["content"][0]["text"] == "hello"


@each("output", [None, {}, float("nan")])
def test_a_response_whose_output_is_no_list_is_put_together(output: Any) -> None:
    odd = {**RESPONSE, "output": output}
    answered = answer(EVENTS, response_events(odd), path="/v1/responses")
    assert json.loads(answered.data)["output"][0]["content"][0]["text"] == "hello"


def test_an_odd_event_behind_the_end_does_no_harm() -> None:
    events = sse(*CHAT, {"type": 7}, done=True)
    assert json.loads(answer(EVENTS, events).data)["choices"][0]["message"]["content"] == "hello"
    events = sse(*CHAT, done=True) + sse({"type": 7})
    assert json.loads(answer(EVENTS, events).data)["choices"][0]["message"]["content"] == "hello"


@each("dialect", ["openai", "anthropic"])
def test_an_error_or_a_stream_that_breaks_off_is_a_failed_attempt(dialect: str) -> None:
    error = sse({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}})
    path = "/v1/messages" if dialect == "anthropic" else ""
    assert answer(EVENTS, error, dialect=dialect, path=path).failure
    begun = sse(*MESSAGES[:3]) if dialect == "anthropic" else sse(*CHAT[:2])
    assert answer(EVENTS, begun, dialect=dialect, path=path).failure


def test_what_is_no_chat_stays_a_stream() -> None:
    events = sse({"type": "transcript.text.done", "text": "hello"})
    answered = answer(EVENTS, events, path="/v1/audio/transcriptions")
    assert (answered.kind, answered.data) == ("text/event-stream", events)


def test_a_request_that_cannot_be_read_gets_its_answer_in_one_piece() -> None:
    body = {"model": "m", "messages": "none"}
    answered = Answered("openai", EVENTS, sse(*CHAT, done=True), body=body)
    assert json.loads(answered.data)["choices"][0]["message"]["content"] == "hello"


def test_a_stream_that_is_slow_to_begin_comes_in_one_piece() -> None:
    body = {"model": "m"}
    answered = Answered("openai", EVENTS, 5.0, sse(*CHAT, done=True), body=body, heartbeat=1.0)
    assert json.loads(answered.data)["choices"][0]["message"]["content"] == "hello"
