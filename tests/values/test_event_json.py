"""The JSON in an event's data."""

import time
from typing import Any

import pytest

from engine.values.event_json import amended_json, event_json, json_object, json_or_none
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
