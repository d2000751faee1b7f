"""The framing of an answer is seen in its first bytes; an array is read as events."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.dialects.interface.streams import Framing
from engine.relay.filter import Unreadable
from engine.relay.framing import ArrayEvents, framing_of
from tests.support.each import each
from tests.support.growth import MAX_GROWTH, Work, growth
from tests.support.loop_turns import loop_turns

EVENTS, WHOLE, ARRAY, UNKNOWN = Framing.EVENTS, Framing.WHOLE, Framing.ARRAY, Framing.UNKNOWN


@each(
    ("start", "expected"),
    [
        (b"data: {}", EVENTS),
        (b"data:{}", EVENTS),
        (b"event: x", EVENTS),
        (b"id: 1", EVENTS),
        (b"retry: 1", EVENTS),
        (b": hello", EVENTS),
        (b"\r\n\r\ndata:", EVENTS),
        (b"\xef\xbb\xbfdata:", EVENTS),
        (b"\xef\xbb\xbf", None),
        (b"\xef\xbb", None),
        (b"", None),
        (b" \n", None),
        (b"da", None),
        (b"retry", None),
        (b"{", None),
        (b'\n {"a"', None),
        (b'{"id": "c1", "obj', None),
        (b'{"id": "c1", "object": "chat.completion"}', WHOLE),
        (b'{"a":"' + b"x" * 2_000, WHOLE),
        (b'{"id": "c1", "object": "chat.completion.chunk"', ARRAY),
        (b'{"type":"message_start","message":{}}\n{', ARRAY),
        (b'{"text": "' + b"x" * 2_000 + b'", "object": "chat.completion.chunk"', WHOLE),
        (b"[", ARRAY),
        (b" [\n", ARRAY),
        (b"<html>", UNKNOWN),
        (b"date: 1", UNKNOWN),
        (b"data is", UNKNOWN),
        (b"\x1f\x8b\x08", UNKNOWN),
        (b" " * 2_000, UNKNOWN),
    ],
)
def test_the_first_bytes_show_it(start: bytes, expected: Framing | None) -> None:
    assert framing_of(start) is expected


def test_a_text_that_has_ended_is_what_it_is() -> None:
    assert framing_of(b'{"a"', ended=True) is WHOLE
    assert framing_of(b"", ended=True) is None


def items_of(source: ArrayEvents, data: bytes, size: int) -> list[Any]:
    events = b"".join(source.feed(data[at : at + size]) for at in range(0, len(data), size))
    return [json.loads(event.removeprefix(b"data: ")) for event in events.split(b"\n\n") if event]


OBJECTS = st.dictionaries(
    st.text(max_size=9),
    st.recursive(
        st.text(max_size=20) | st.integers() | st.none(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
        max_leaves=8,
    ),
    max_size=4,
)


@given(
    items=st.lists(OBJECTS, max_size=4),
    size=st.integers(1, 30),
    indent=st.sampled_from([None, 1]),
    is_ascii=st.booleans(),
)
def test_its_items_are_events_wherever_it_is_split(
    items: list[Any], size: int, indent: int | None, is_ascii: bool
) -> None:
    source = ArrayEvents()
    data = json.dumps(items, indent=indent, ensure_ascii=is_ascii).encode() + b"\r\n"
    assert items_of(source, data, size) == items
    assert (source.finish(), source.failure) == (b"", None)


@each("data", [b"", b"[", b'[{"a":1}', b'[{"a":1},', b'[{"a":"]'])
def test_an_array_that_is_not_closed_is_cut(data: bytes) -> None:
    source = ArrayEvents()
    source.feed(data)
    assert source.failure is None
    source.finish()
    assert isinstance(source.failure, EOFError)


def test_an_object_that_stands_alone_is_an_item() -> None:
    source = ArrayEvents()
    assert items_of(source, b'{"a": {"b": [{}]}}', 2) == [{"a": {"b": [{}]}}]
    assert (source.finish(), source.failure) == (b"", None)


def test_the_loop_turns_between_thousands_of_items() -> None:
    source, data = ArrayEvents(), b'[{"a":1}' + b",{}" * 2_000 + b',{"b":[]}' * 10
    events: list[bytes] = []
    assert loop_turns(lambda: events.append(source.feed(data))) >= 10
    assert events[0].count(b"data: {}\n\n") == 2_000


def test_an_item_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.relay.framing.MAX_EVENT", 100)
    source = ArrayEvents()
    assert items_of(source, b'[{"a":1},{"b":"' + b"x" * 200, 10) == [{"a": 1}]
    assert isinstance(source.failure, Unreadable)


def test_a_long_text_in_many_parts_is_whole() -> None:
    source, part = ArrayEvents(), b"x" * 1_000 + b"\\n"
    source.feed(b'[{"a":"')
    for _ in range(500):
        assert source.feed(part) == b""
    assert items_of(source, b'"}]', 9)[0]["a"].count("\n") == 500


@each(
    ("before", "again", "after"),
    [(b"[{}", b",{}", b"]"), (b'[{"a":"', b"x", b'"}]'), (b'[{"a":[', b"[]", b"]}]")],
)
@each("at_once", [True, False])
def test_items_cost_what_their_pieces_cost(
    at_once: bool, before: bytes, again: bytes, after: bytes
) -> None:
    def prepare(size: int) -> Work:
        pieces = [before + again * size + after] if at_once else [before, *[again] * size, after]
        events = ArrayEvents()
        return lambda: list(map(events.feed, pieces))

    assert growth(prepare) < MAX_GROWTH
