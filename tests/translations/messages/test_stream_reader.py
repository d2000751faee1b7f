"""Streams of messages -> neutral events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from engine.translations.messages.stream_reader import Reader
from engine.translations.neutral import arguments
from engine.translations.neutral.answer import Answer, collect
from engine.translations.neutral.content import Foreign, Reasoning, Signature, Text, ToolCall
from engine.translations.neutral.events import BrokenAnswer, Event, Law, UpstreamError, Usage
from engine.translations.neutral.members import WrongType
from tests.support.each import each

Json = dict[str, Any]

START: Json = {"type": "message_start", "message": {"id": "msg_1", "model": "m", "content": []}}
STOP: Json = {"type": "content_block_stop", "index": 0}
END: Json = {
    "type": "message_delta",
    "delta": {"stop_reason": "end_turn"},
    "usage": {"output_tokens": 3},
}
LAST: Json = {"type": "message_stop"}


def begin(block: Json, index: int = 0) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int = 0, **members: Any) -> Json:
    return {"type": "content_block_delta", "index": index, "delta": members}


def text(value: str) -> Json:
    return delta(type="text_delta", text=value)


def arguments_of(value: str) -> Json:
    return delta(type="input_json_delta", partial_json=value)


TEXT = begin({"type": "text", "text": ""})
CALL = begin({"type": "tool_use", "id": "t1", "name": "f", "input": {}})


def events_of(*documents: Json) -> Iterator[Event]:
    reader, law = Reader(), Law()
    for document in documents:
        for event in reader.read(json.dumps(document).encode()):
            law.check(event)
            yield event
    yield from reader.end()


def read(*documents: Json) -> Answer:
    return collect(events_of(*documents))


def blocks_of(*documents: Json) -> list[Any]:
    return read(START, *documents, END, LAST).candidates[0].blocks


@each(
    ("documents", "block"),
    [
        ([TEXT, text("a"), {"type": "ping"}, text("b"), STOP], Text(text="ab")),
        ([begin({"type": "text", "text": "a"}), text("b"), STOP], Text(text="ab")),
        ([CALL, arguments_of(""), STOP], ToolCall(id="t1", name="f")),
        (
            [CALL, arguments_of('{"a'), arguments_of('":1.0}'), STOP],
            ToolCall(id="t1", name="f", arguments='{"a":1.0}'),
        ),
        (
            [
                begin({"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}),
                arguments_of('{"a":1}'),
                STOP,
            ],
            ToolCall(id="t1", name="f", arguments='{"a":1}'),
        ),
        (
            [begin({"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}), STOP],
            ToolCall(id="t1", name="f", arguments='{"a": 1}'),
        ),
        (
            [
                begin({"type": "thinking", "thinking": "", "signature": ""}),
                delta(type="thinking_delta", thinking="hm"),
                delta(type="signature_delta", signature="s"),
                STOP,
            ],
            Reasoning(text="hm", signature=Signature("messages", "s")),
        ),
        (
            [begin({"type": "redacted_thinking", "data": "d"}), STOP],
            Reasoning(signature=Signature("messages", "redacted:d")),
        ),
    ],
)
def test_blocks(documents: list[Json], block: object) -> None:
    assert blocks_of(*documents) == [block]


def test_a_block_of_this_vendor_is_whole_with_its_deltas() -> None:
    call = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    (block,) = blocks_of(begin(call), arguments_of('{"query":'), arguments_of('"cat"}'), STOP)
    assert isinstance(block, Foreign)
    assert (block.kind, json.loads(bytes(block.raw))) == (
        "server_tool_use",
        {**call, "input": {"query": "cat"}},
    )


def test_texts_of_unknown_deltas_belong_to_their_block() -> None:
    (block,) = blocks_of(
        begin({"type": "compaction", "content": None}),
        delta(type="compaction_delta", content="So "),
        delta(type="compaction_delta", content="far."),
        STOP,
    )
    assert json.loads(bytes(block.raw)) == {"type": "compaction", "content": "So far."}


def test_a_block_that_grows_without_end_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.translations.messages.stream_reader.LARGEST", 50)
    assert arguments.LARGEST > 50
    many = [arguments_of("x" * 20)] * 3
    with pytest.raises(BrokenAnswer, match="server_tool_use that is too large"):
        blocks_of(begin({"type": "server_tool_use"}), *many, STOP)


@each(
    ("reason", "stop"),
    [
        ("end_turn", "end"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("tool_use", "tool_calls"),
        ("refusal", "filter"),
        ("pause_turn", "pause"),
        ("something_new", "end"),
    ],
)
def test_stop_reasons(reason: str, stop: str) -> None:
    finish = read(START, {**END, "delta": {"stop_reason": reason}}, LAST).candidates[0].finish
    assert (finish.stop, finish.native) == (stop, reason)


def test_the_stop_sequence_and_the_reason_of_a_refusal_are_read() -> None:
    details = {"type": "refusal", "explanation": "No."}
    members = {"stop_reason": "refusal", "stop_sequence": "END", "stop_details": details}
    finish = read(START, {**END, "delta": members}, LAST).candidates[0].finish
    assert (finish.sequence, finish.explanation) == ("END", "No.")


@each(
    "more",
    [
        [{"type": "message_delta", "delta": {"stop_reason": None}}],
        [{"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}],
        [{"type": "message_delta"}],
    ],
)
def test_the_first_stop_reason_counts(more: list[Json]) -> None:
    assert read(START, END, *more, LAST).candidates[0].finish.native == "end_turn"


def usage(**counts: Any) -> Json:
    return {"type": "message_delta", "delta": {}, "usage": counts}


def started(**counts: Any) -> Json:
    return {"type": "message_start", "message": {"usage": counts}}


@each(
    ("documents", "total"),
    [
        (
            [
                started(input_tokens=10, cache_read_input_tokens=7, output_tokens=1),
                usage(output_tokens=9),
            ],
            Usage(input=17, output=9, cached=7),
        ),
        (
            [
                started(input_tokens=10, output_tokens=1),
                usage(input_tokens=10, output_tokens=5),
                usage(input_tokens=0, output_tokens=9),
            ],
            Usage(input=10, output=9),
        ),
        (
            [
                started(input_tokens=0, output_tokens=0),
                usage(input_tokens=12, output_tokens=9, cache_read_input_tokens=None),
            ],
            Usage(input=12, output=9),
        ),
        (
            [
                started(
                    input_tokens=1,
                    cache_creation_input_tokens=5,
                    cache_creation={
                        "ephemeral_5m_input_tokens": 3,
                        "ephemeral_1h_input_tokens": 2,
                    },
                ),
                usage(output_tokens=9, output_tokens_details={"thinking_tokens": 4}),
            ],
            Usage(input=6, output=9, cache_write=5, cache_write_1h=2, reasoning=4),
        ),
        (
            [
                started(input_tokens=1, cache_creation={"ephemeral_5m_input_tokens": 3}),
                usage(output_tokens=2),
            ],
            Usage(input=4, output=2, cache_write=3),
        ),
    ],
)
def test_usage_is_the_last_count_of_each_kind(documents: list[Json], total: Usage) -> None:
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    assert read(*documents, end, LAST).usage == total


def test_an_answer_without_usage_has_none() -> None:
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    assert read(START, end, LAST).usage is None


def test_a_stream_may_end_after_its_stop_reason() -> None:
    assert read(START, TEXT, text("a"), STOP, END).candidates[0].blocks == [Text(text="a")]


def test_what_follows_the_end_is_ignored() -> None:
    reader = Reader()
    for document in (START, END, LAST):
        list(reader.read(json.dumps(document).encode()))
    assert list(reader.read(b"[DONE]")) == []
    assert list(reader.read(json.dumps(START).encode())) == []
    assert list(reader.end()) == []


def test_events_that_are_not_known_say_nothing() -> None:
    news = {"type": "something_new", "x": 1}
    odd = delta(type="odd_delta", text="x")
    documents = (news, START, news, TEXT, text("a"), odd, STOP, END, LAST)
    assert read(*documents).candidates[0].blocks == [Text(text="a")]


@each(
    "documents",
    [
        [],
        [START],
        [START, TEXT],
        [START, TEXT, text("a")],
        [START, TEXT, text("a"), STOP],
        [START, LAST],
        [START, TEXT, END],
        [END, LAST],
        [TEXT],
        [START, START],
        [START, TEXT, TEXT],
        [START, text("a")],
        [START, STOP],
        [START, TEXT, {**text("a"), "index": 1}],
        [START, TEXT, {**STOP, "index": 1}],
        [START, END, TEXT],
    ],
)
def test_an_incomplete_or_disordered_stream_is_broken(documents: list[Json]) -> None:
    with pytest.raises(BrokenAnswer, match=r"^the upstream"):
        read(*documents)


@each(
    ("block", "more"),
    [
        (CALL, text("x")),
        (TEXT, arguments_of("{}")),
        (TEXT, delta(type="signature_delta", signature="s")),
        (CALL, delta(type="citations_delta", citation={"url": "u"})),
    ],
)
def test_a_delta_in_a_block_of_another_kind_is_broken(block: Json, more: Json) -> None:
    with pytest.raises(BrokenAnswer, match="in a block of another kind"):
        read(START, block, more)


def test_the_input_of_a_vendors_tool_that_was_cut_off_is_left_as_it_began() -> None:
    call = {"type": "server_tool_use", "id": "s1", "input": {}}
    (block,) = blocks_of(begin(call), arguments_of('{"que'), STOP)
    assert json.loads(bytes(block.raw)) == call


@each(
    ("data", "place"),
    [
        (b"not JSON", "the JSON text"),
        (b"[]", "the JSON text"),
        (b'"text"', "the JSON text"),
        (b'{"type":5}', "type"),
        (b'{"type":"message_start"}', "message"),
        (b'{"type":"content_block_start","index":0}', "content_block"),
        (
            b'{"type":"message_start","message":{"usage":{"input_tokens":"x"}}}',
            "message.usage.input_tokens",
        ),
    ],
)
def test_an_event_of_another_form_is_named(data: bytes, place: str) -> None:
    with pytest.raises(WrongType) as caught:
        list(Reader().read(data))
    assert caught.value.place == place


@each(
    ("block", "place"),
    [
        ({"type": "tool_use", "name": "f", "input": {}}, "content_block.id"),
        ({"type": "tool_use", "id": "t", "input": {}}, "content_block.name"),
        ({"type": "tool_use", "id": "t", "name": "f", "input": "x"}, "content_block.input"),
        ({}, "content_block.type"),
    ],
)
def test_a_block_of_another_form_is_named(block: Json, place: str) -> None:
    with pytest.raises(WrongType) as caught:
        read(START, begin(block))
    assert caught.value.place == place


@each(
    ("error", "status"),
    [
        ({"type": "overloaded_error", "message": "Overloaded"}, 529),
        ({"type": "rate_limit_error", "message": "Slow"}, 429),
        ({"type": "api_error", "message": "Oops"}, 500),
        ({"type": "new_error", "message": "Oops"}, 502),
    ],
)
def test_an_error_event_is_the_upstreams_error(error: Json, status: int) -> None:
    with pytest.raises(UpstreamError) as caught:
        read(START, TEXT, text("a"), {"type": "error", "error": error})
    assert (caught.value.status, caught.value.message, caught.value.code) == (
        status,
        error["message"],
        error["type"],
    )
