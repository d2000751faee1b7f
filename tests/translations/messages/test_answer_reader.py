"""Streams of messages -> neutral events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.translations.messages.answer_reader import Reader, read_answer
from engine.translations.neutral.content import Text
from engine.translations.neutral.events import BrokenAnswer, UpstreamError
from engine.translations.neutral.json_members import WrongType
from tests.support.each import each
from tests.translations.messages.streams import (
    CALL,
    END,
    LAST,
    START,
    STOP,
    TEXT,
    Json,
    arguments_of,
    begin,
    delta,
    read,
    text,
)


@each(
    ("reason", "stop"),
    [
        ("end_turn", "end"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
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


def test_a_stream_may_end_after_its_stop_reason() -> None:
    assert read(START, TEXT, text("a"), STOP, END).candidates[0].blocks == [Text(text="a")]


def test_a_stream_whose_end_has_no_reason_is_complete() -> None:
    no_reason = {**END, "delta": {"stop_reason": None}}
    finish = read(START, TEXT, text("a"), STOP, no_reason, LAST).candidates[0].finish
    assert (finish.stop, finish.native) == ("end", "")
    finish = read(START, CALL, STOP, no_reason, LAST).candidates[0].finish
    assert finish.stop == "tool_calls"
    for incomplete in ([START, no_reason, LAST], [START, TEXT, text("a"), no_reason, LAST]):
        with pytest.raises(BrokenAnswer):
            read(*incomplete)


def test_what_follows_the_end_is_ignored() -> None:
    reader = Reader()
    for document in (START, END, LAST):
        list(reader.read(json.dumps(document).encode()))
    assert list(reader.read(b"[DONE]")) == []
    assert list(reader.read(json.dumps(START).encode())) == []
    assert list(reader.end()) == []


def test_events_that_are_not_known_say_nothing() -> None:
    news = {"type": "something_new", "x": 1}
    odd = delta(type="odd_delta", x="x")
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


@each(
    ("data", "place"),
    [
        (b"not JSON", "the JSON text"),
        (b"[]", "the JSON text"),
        (b'"text"', "the JSON text"),
        (b'{"type":["x"]}', "type"),
        (b'{"type":"message_start"}', "message"),
        (b'{"type":"content_block_start","index":0}', "content_block"),
    ],
)
def test_an_event_of_another_form_is_named(data: bytes, place: str) -> None:
    with pytest.raises(WrongType) as excinfo:
        list(Reader().read(data))
    assert excinfo.value.place == place


@each(
    ("block", "place"),
    [
        ({"type": "tool_use", "id": "t", "input": {}}, "content_block.name"),
        ({}, "content_block.type"),
    ],
)
def test_a_block_of_another_form_is_named(block: Json, place: str) -> None:
    with pytest.raises(WrongType) as excinfo:
        read(START, begin(block))
    assert excinfo.value.place == place


@each(
    ("error", "status"),
    [
        ({"type": "overloaded_error", "message": "Overloaded"}, 503),
        ({"type": "rate_limit_error", "message": "Slow"}, 429),
        ({"type": "api_error", "message": "Oops"}, 500),
        ({"type": "new_error", "message": "Oops"}, 502),
    ],
)
def test_an_error_event_is_the_upstreams_error(error: Json, status: int) -> None:
    with pytest.raises(UpstreamError) as excinfo:
        read(START, TEXT, text("a"), {"type": "error", "error": error})
    assert (excinfo.value.status, excinfo.value.message, excinfo.value.code) == (
        status,
        error["message"],
        error["type"],
    )


@each(
    ("error", "message"),
    [({"message": "Slow", "type": "rate_limit_error", "code": "429"}, "Slow"), ("Slow", "Slow")],
)
def test_an_error_without_the_type_of_an_event_is_one(error: Any, message: str) -> None:
    with pytest.raises(UpstreamError, match=message):
        read(START, TEXT, text("a"), {"error": error})


def test_what_is_not_asked_for_may_have_any_value() -> None:
    odd: Json = {"type": "ping", "message": 5, "content_block": "x", "delta": [], "usage": 7}
    new: Json = {"type": "new_event", "delta": 5}
    answer = read(
        START, odd, new, TEXT, text("a"), delta(type="new_delta", data=[]), STOP, END, LAST
    )
    assert answer.candidates[0].blocks == [Text(text="a")]


def test_an_answer_of_an_older_api_is_none() -> None:
    body = {"type": "completion", "completion": "Hi", "stop_reason": "stop_sequence"}
    with pytest.raises(BrokenAnswer, match="has no content"):
        list(read_answer(json.dumps(body).encode()))
