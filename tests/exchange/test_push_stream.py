"""The pieces of a body: iterated over by the server, or sent by their source."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.exchange.push_stream import MAX_PIECE, Blocked, Pipeline, PushStream


def shorter(piece: bytes) -> bytes:
    return piece[1:]


def pipeline(*steps: Callable[[bytes], bytes]) -> Pipeline:
    result = Pipeline()
    for step in steps:
        result.add(step)
    return result


def test_each_piece_goes_through_the_steps_in_their_order() -> None:
    to_caller = pipeline(bytes.upper, shorter)
    assert list(PushStream([b"one", b"two"], to_caller)) == [b"NE", b"WO"]
    assert to_caller.transform(b"abc") == b"BC"


def test_a_piece_that_a_step_drops_is_not_yielded() -> None:
    assert list(PushStream([b"a", b"bc"], pipeline(shorter))) == [b"c"]


def test_an_empty_piece_of_the_source_is_yielded() -> None:
    assert list(PushStream([b"ab", b""], pipeline(shorter))) == [b"b", b""]


def test_a_large_piece_is_yielded_in_parts_behind_the_steps() -> None:
    large = b"x" + bytes(range(256)) * (MAX_PIECE // 100)
    pieces = list(PushStream([large, b"ab"], pipeline(shorter)))
    assert b"".join(pieces) == large[1:] + b"b"
    assert [len(piece) for piece in pieces] == [
        MAX_PIECE,
        MAX_PIECE,
        len(large) - 1 - 2 * MAX_PIECE,
        1,
    ]


def test_send_applies_the_steps() -> None:
    sent_pieces: list[bytes] = []
    to_caller = pipeline(shorter)
    to_caller.try_send = lambda piece: not sent_pieces.append(piece)  # type: ignore[func-returns-value]
    to_caller.send(b"abc")
    to_caller.send(b"d")  # which the step keeps
    assert sent_pieces == [b"bc"]


def test_a_caller_who_does_not_take_all_blocks() -> None:
    to_caller = pipeline()
    to_caller.try_send = lambda piece: False
    with pytest.raises(Blocked):
        to_caller.send(b"abc")
