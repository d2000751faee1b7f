"""The pieces of a body: iterated over by the server, or sent by their source."""

from __future__ import annotations

from collections.abc import Callable

from engine.exchange.push_stream import MAX_PIECE, Pipeline, PushStream


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


def test_the_steps_change_a_piece_or_drop_it() -> None:
    transform = pipeline(shorter).transform
    assert [transform(b"abc"), transform(b"d")] == [b"bc", b""]
