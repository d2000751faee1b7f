"""The JSON in an event's data."""

from __future__ import annotations

import time
from typing import Any

import pytest

from engine.values.event_json import (
    LONG_EVENT,
    amended_json,
    count_events,
    event_ends,
    event_json,
    joined_objects,
    json_object,
    json_or_none,
    long_data,
    split_events,
    whole_object,
)
from tests.support.each import each


@pytest.mark.parametrize(
    ("text", "document"),
    [
        (b'data: {"a": 1}', {"a": 1}),
        (b'event: x\ndata: {"a": 1}', {"a": 1}),
        (b'data: {"a":\ndata: 1}', {"a": 1}),
        (b'data: {"a": "data: 1"}', {"a": "data: 1"}),
        (b"event: message_stop\ndata: {}", {"type": "message_stop"}),
        (b'event: response.created\ndata: {"type": "x"}', {"type": "x"}),
        (b"event: ping\ndata: {}", {}),
        (b"data: [DONE]", None),
        (b": comment", None),
        (b"data: " + b"[" * 5000, None),
        (b"data: \xff", None),
    ],
)
def test_an_event_has_a_json_value(text: bytes, document: Any) -> None:
    assert event_json(text) == document


@each(
    ("text", "whole"),
    [
        ('{"a":1}', '{"a":1}'),
        ('{"a":1}}', '{"a":1}'),
        (' {"a":"}"} and so on', '{"a":"}"}'),
        ('{"a":1}{"b":2}', '{"a":1}{"b":2}'),  # the other one may matter
        ('{"a":', '{"a":'),
        ("[1]]", "[1]]"),
        ('{"a":' * 5000, '{"a":' * 5000),
    ],
)
def test_what_is_behind_a_whole_object_is_left_out(text: str, whole: str) -> None:
    assert whole_object(text) == whole


@each(
    ("text", "objects"),
    [
        ('{"a":1}', ['{"a":1}']),
        ('{"a":1} {"a":2}\n{"a":1}', ['{"a":1}', '{"a":2}']),
        ('{}{"a":1}', ['{"a":1}']),
        ('{"a":1}{"a', ['{"a":1}', '{"a']),
        ('{"a":"}{"}', ['{"a":"}{"}']),
        ('{"a" }{"a":1}', ['{"a" }{"a":1}']),
        ('{"a":1}, {"b":"}{"}', ['{"a":1}, {"b":"}{"}']),
        ("", [""]),
    ],
)
def test_objects_one_behind_the_other(text: str, objects: list[str]) -> None:
    assert joined_objects(text) == objects


def test_each_of_very_many_objects_is_read_once() -> None:
    text = "".join(f'{{"a":{number}}}' for number in range(30_000))
    begin = time.thread_time()
    assert len(joined_objects(text)) == 30_000
    assert time.thread_time() - begin < 2  # 0.04 s; with a copy of the remainder for each, 34 s


def test_a_text_that_is_not_json_has_no_value() -> None:
    assert json_or_none(b'{"a":1}') == {"a": 1}
    assert json_or_none(b"<html>") is None


@pytest.mark.parametrize(
    ("text", "document"),
    [
        (b'\xef\xbb\xbf{"a":1}', {"a": 1}),
        (b'{"a":NaN,"b":[-Infinity,Infinity]}', {"a": None, "b": [None, None]}),
        (rb'{"a":NaN,"b":"NaN, \"-Infinity\""}', {"a": None, "b": 'NaN, "-Infinity"'}),
        (b'\xef\xbb\xbf{"a":NaN}', {"a": None}),
        (b'{"a":NaNs}', None),
        (b"\xef\xbb\xbf", None),
        (b"\xef\xbb\xbf" * 3000 + b"{}", {}),
        (b'{"a":NaN', None),
    ],
)
def test_what_other_readers_of_json_accept_is_read(text: bytes, document: Any) -> None:
    assert json_or_none(text) == document


def test_a_string_without_its_end_is_read_once() -> None:
    seconds = []
    for size in (2_000, 32_000):
        begin = time.thread_time()
        assert amended_json(rb'{"a":NaN,"b":"' + rb"\"" * size) != b""
        seconds.append(time.thread_time() - begin)
    assert seconds[1] < 100 * max(seconds[0], 0.0005)


@each(
    "text, expected",
    [
        (b'{"a": 1}', {"a": 1}),
        (bytearray(b'{"a": NaN}'), {"a": None}),
        (b"[1]", {}),
        (b"text", {}),
        (b"", {}),
    ],
)
def test_anything_but_an_object_is_an_empty_one(text, expected):
    assert json_object(text) == expected


A, B = b'data: {"a":1}\n\n', b"event: x\ndata: {\ndata: }\n\n"


@pytest.mark.parametrize(
    ("data", "events"),
    [(b"", []), (A, [A]), (A + B + A, [A, B, A]), (A + b"data: {", [A, b"data: {"])],
    ids=["none", "one", "several", "cut off"],
)
def test_events_one_by_one(data: bytes, events: list[bytes]) -> None:
    assert list(split_events(data)) == events
    assert count_events(data) == sum(event.endswith(b"\n\n") for event in events)


def test_a_long_event_is_counted_and_not_copied() -> None:
    long = b"data: " + b"x" * LONG_EVENT + b"\n\n"
    (event,) = split_events(long)
    assert event is long
    assert count_events(A + long + A + b"data: ") == 3


def test_the_data_of_a_long_event() -> None:
    event = b": c\ndata: one\nid: data:\ndata:two\ndata\ndata:\n\n"
    assert [event[start:end] for start, end in long_data(event)] == [b"one", b"two", b""]
    assert long_data(b"data: x") == [(6, 7)]
    assert [*event_ends(b"a\n\nb\n\n", 2)] == [6]
