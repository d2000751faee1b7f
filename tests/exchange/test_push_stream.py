"""The way of a body's pieces, for those who are iterated over and those who are passed on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.exchange.push_stream import Blocked, Pipeline, PushStream


def shorter(piece: bytes) -> bytes:
    return piece[1:]


def pipeline(*steps: Callable[[bytes], bytes]) -> Pipeline:
    made = Pipeline()
    made.steps += steps
    return made


def test_each_piece_goes_through_the_steps_in_their_order() -> None:
    way = pipeline(bytes.upper, shorter)
    assert list(PushStream([b"one", b"two"], way)) == [b"NE", b"WO"]
    assert way.through(b"abc") == b"BC"


def test_what_a_step_keeps_is_not_given() -> None:
    assert list(PushStream([b"a", b"bc"], pipeline(shorter))) == [b"c"]


def test_a_source_that_gives_nothing_wakes_whoever_sends() -> None:
    assert list(PushStream([b"ab", b""], pipeline(shorter))) == [b"b", b""]


def test_what_is_sent_goes_the_same_way() -> None:
    taken: list[bytes] = []
    way = pipeline(shorter)
    way.try_send = lambda piece: not taken.append(piece)  # type: ignore[func-returns-value]
    way.send(b"abc")
    way.send(b"d")  # which the step keeps
    assert taken == [b"bc"]


def test_a_caller_who_does_not_take_all_blocks() -> None:
    way = pipeline()
    way.try_send = lambda piece: False
    with pytest.raises(Blocked):
        way.send(b"abc")
