"""A stream that answers a relayed request for an answer in one piece is put together."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import pytest

from engine.exchange.outcome import Outcome
from engine.translations.translation import StreamTranslator
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


def test_members_that_no_translation_knows_stay() -> None:
    detail = {"hate": {"filtered": False}}
    one, two, end, usage = json.loads(json.dumps(CHAT))
    one["choices"][0]["delta"]["reasoning"] = "h"
    two["choices"][0]["delta"]["reasoning"] = "m"
    two["system_fingerprint"] = "fp_1"
    end["choices"][0]["content_filter_results"] = detail
    usage["usage"]["cost"] = 0.5
    answered = json.loads(answer(EVENTS, sse(one, two, end, usage, done=True)).data)
    (choice,) = answered["choices"]
    assert (choice["message"]["content"], choice["message"]["reasoning"]) == ("hello", "hm")
    assert choice["content_filter_results"] == detail
    assert answered["system_fingerprint"] == "fp_1"
    assert (answered["usage"]["cost"], answered["usage"]["completion_tokens"]) == (0.5, 50)


CALL = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
PAGES = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"url": "u"}]}
CITED = {"type": "web_search_result_location", "url": "u", "encrypted_index": "e"}
THOUGHT = {"type": "thinking", "thinking": "", "signature": ""}
TOOL = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}


def block_events(index: int, block: Any, *deltas: Any) -> list[Any]:
    place = {"index": index}
    return [
        {"type": "content_block_start", **place, "content_block": block},
        *({"type": "content_block_delta", **place, "delta": each} for each in deltas),
        {"type": "content_block_stop", **place},
    ]


def json_delta(text: str) -> dict[str, str]:
    return {"type": "input_json_delta", "partial_json": text}


def whole(*blocks: list[Any]) -> Any:
    """The message that is made of the events of blocks."""
    start, *_, delta, stop = MESSAGES
    delta = {**delta, "context_management": {"applied_edits": []}}
    events = [event for each in blocks for event in each]
    data = sse(start, *events, delta, stop)
    return json.loads(answer(EVENTS, data, dialect="anthropic", path="/v1/messages").data)


def test_blocks_of_the_vendors_tools_and_what_it_wants_back_stay() -> None:
    message = whole(
        block_events(
            *(0, THOUGHT),
            {"type": "thinking_delta", "thinking": "hm"},
            {"type": "signature_delta", "signature": "s"},
        ),
        block_events(1, CALL, json_delta('{"query":'), json_delta('"x"}')),
        block_events(2, PAGES),
        block_events(3, {"type": "novel", "n": 1}, {"type": "novel_delta", "n": 2}),
        block_events(
            *(4, {"type": "text", "text": "", "citations": []}),
            {"type": "text_delta", "text": "hel"},
            {"type": "text_delta", "text": "lo"},
            {"type": "citations_delta", "citation": CITED},
        ),
        block_events(5, TOOL, json_delta('{"a":12345678901234567890}')),
    )
    assert message["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {**CALL, "input": {"query": "x"}},
        PAGES,
        {"type": "novel", "n": 2},
        {"type": "text", "text": "hello", "citations": [CITED]},
        {**TOOL, "input": {"a": 12345678901234567890}},
    ]
    assert message["context_management"] == {"applied_edits": []}
    assert message["usage"]["output_tokens"] == 50


def test_lists_of_very_many_deltas_take_little_time() -> None:
    text = {"type": "text", "text": ""}
    citation = {"type": "citations_delta", "citation": {"type": "web_search_result_location"}}
    begin = time.thread_time()
    cited = block_events(0, text, {"type": "text_delta", "text": "a"}, *[citation] * 9_000)
    assert len(whole(cited)["content"][0]["citations"]) == 9_000
    chunk = {"choices": [{"index": 0, "delta": {"details": [{}]}}]}
    answered = answer(EVENTS, sse(CHAT[0], *[chunk] * 80_000, *CHAT[1:], done=True))
    assert len(json.loads(answered.data)["choices"][0]["message"]["details"]) == 80_000
    assert time.thread_time() - begin < 10  # 1 s; 16 s more with a new list for each


def test_texts_of_very_many_deltas_take_little_time() -> None:
    words = {"type": "text_delta", "text": "x" * 100}
    begin = time.thread_time()
    message = whole(block_events(0, {"type": "text", "text": ""}, *[words] * 40_000))
    assert len(message["content"][0]["text"]) == 4_000_000
    tool = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    pieces = [json_delta('{"a":"'), *[json_delta("x" * 100)] * 39_000, json_delta('"}')]
    message = whole(block_events(0, tool, *pieces))
    assert len(message["content"][0]["input"]["a"]) == 3_900_000
    assert time.thread_time() - begin < 7  # 2 s; 12 s more with a new text for each


def test_blocks_of_the_vendors_tools_count_for_the_bound_of_an_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    search = block_events(0, {"type": "server_tool_use", "id": "s"}, *[json_delta("x" * 900)] * 20)
    data = sse(MESSAGES[0], *search, *MESSAGES[1:])
    assert answer(EVENTS, data, dialect="anthropic", path="/v1/messages").data
    monkeypatch.setattr(sys.modules[StreamTranslator.__module__], "MAX_ANSWER", 10_000)
    answered = answer(EVENTS, data, dialect="anthropic", path="/v1/messages")
    assert b"server_tool_use" not in answered.data
    assert answered.failure


def test_blocks_whose_events_do_not_fit_together_are_the_translated_ones() -> None:
    text = block_events(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "hello"})
    for odd in (text[1:], [{name: o[name] for name in o if name != "index"} for o in text]):
        assert whole(odd)["content"] == [{"type": "text", "text": "hello"}]


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
