"""Bodies that are sequences of items."""

from __future__ import annotations

from typing import Any

import pytest

from engine.spec.bodies.sequences import parse_sequence, write_sequence
from engine.values.errors import Malformed
from tests.support.each import each

EVENTS = b"""\xef\xbb\xbfevent: addString
data: This data is formatted
data: across two lines
retry: 5

event: addInt64
data:1234.5678
unknownField: this is ignored

: This is a comment

id: 7\r\ndata\r\rretry: x
data: last
"""


@each(
    ("kind", "data", "items"),
    [
        ("lines", b'{"a": 1}\n[2]\r\n\n3', [{"a": 1}, [2], 3]),
        ("lines", b"", []),
        ("records", b'\x1e{"a": 1}\n\x1e2\n', [{"a": 1}, 2]),
        ("records", b"", []),
        ("events", b"", []),
        ("events", b"event: a\n\n", []),
    ],
)
def test_a_sequence_is_a_list(kind: str, data: bytes, items: list[Any]) -> None:
    assert parse_sequence(kind, data) == items


def test_an_event_has_its_fields() -> None:
    first = {
        "event": "addString",
        "data": "This data is formatted\nacross two lines",
        "retry": 5,
    }
    others = [{"event": "addInt64", "data": "1234.5678"}, {"id": "7", "data": ""}]
    assert parse_sequence("events", EVENTS) == [first, *others, {"data": "last"}]
    assert parse_sequence("events", EVENTS, truncated=True) == [first, *others]


@each(
    ("kind", "data", "words"),
    [
        ("lines", b"1\n{", "item 2"),
        ("records", b"\x1e1\n\x1e{", "item 2"),
        ("records", b"1\n", "record separator"),
        ("lines", b"\xff", "item 1"),
    ],
)
def test_an_item_that_is_no_json_is_named(kind: str, data: bytes, words: str) -> None:
    with pytest.raises(Malformed, match=words):
        parse_sequence(kind, data)


@each(("kind", "data"), [("lines", b"1\n{"), ("records", b"\x1e1\n\x1e{")])
def test_the_last_item_of_a_truncated_sequence_is_left_out(kind: str, data: bytes) -> None:
    assert parse_sequence(kind, data, truncated=True) == [1]


@each(
    ("kind", "items"),
    [
        ("lines", [1, {"a": "x"}]),
        ("records", [1, {"a": "x"}]),
        ("events", [{"event": "a", "data": "x\ny"}, {"data": "1", "retry": 3}]),
    ],
)
def test_what_is_written_is_read(kind: str, items: list[Any]) -> None:
    assert parse_sequence(kind, write_sequence(kind, items)) == items
