"""What passes is counted, and usage read from it."""

from __future__ import annotations

import pytest
from websockets.frames import Frame, Opcode

from engine.exchange import Passed
from engine.relay.websocket.tally import LONGEST_PUT_TOGETHER, Tally, add

TEXT, BINARY, CONT = Opcode.TEXT, Opcode.BINARY, Opcode.CONT


def tally(*frames, usage=None):
    passed, total, seen = Passed(), {}, []

    def read(message):
        seen.append(message)
        return usage

    counting = Tally(passed, read, total)
    for frame in frames:
        counting.note(Frame(*frame))
    return passed, total, seen


def test_messages_and_bytes_are_counted():
    passed, _, seen = tally((TEXT, b"ab"), (BINARY, b"cde", False), (CONT, b"f", True))
    assert passed == Passed(2, 6)
    assert seen == [b"ab"]


def test_a_text_in_fragments_is_put_together():
    _, total, seen = tally((TEXT, b"a", False), (CONT, b"b", False), (CONT, b"c"), usage={"n": 1})
    assert (seen, total) == ([b"abc"], {"n": 1})


def test_fragments_that_grow_too_long_are_not_kept():
    big = b"x" * (LONGEST_PUT_TOGETHER // 2 + 1)
    _, _, seen = tally((TEXT, big, False), (CONT, big, False), (CONT, b"c"), (TEXT, b"next"))
    assert seen == [b"next"]


@pytest.mark.parametrize(
    ("found", "total"),
    [
        ([{"a": 1}, {"a": 2}], {"a": 3}),
        ([{"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}], {"a": {"b": 2, "c": 2}}),
        ([{"a": "text", "b": None, "c": True, "d": [1]}], {}),
        ([{"a": 1}, {"a": {"b": 1}}], {"a": 1}),
        ([{"a": {"b": 1}}, {"a": 1}], {"a": {"b": 1}}),
        ([{"a": 1.5}, {"a": 1}], {"a": 2.5}),
    ],
)
def test_counts_are_added_member_by_member(found, total):
    made = {}
    for usage in found:
        add(made, usage)
    assert made == total
