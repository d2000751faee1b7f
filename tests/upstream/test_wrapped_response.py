"""What all responses in the place of an upstream's have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engine.upstream.client.failures import InvalidAnswer, Truncated
from engine.upstream.wrapped_response import WrappedResponse
from tests.support.upstreams import JSON, FakeResponse


class UpperCase(WrappedResponse):
    """Its body in capitals; blanks come to nothing, and a `!` fails behind what precedes it."""

    def read(
        self, on_data: Callable[[bytes], None] | None = None, beat: float | None = None
    ) -> bytes:
        return self._read_mapped(self._upper, on_data, beat)

    def whole(self, most: int, on_data: Callable[[bytes], None] = bytes) -> bytes:
        return self._read_all(most, None, on_data)

    def _upper(self, data: bytes) -> bytes:
        text, mark, _ = data.strip().partition(b"!")
        if mark:
            self._failure = Truncated()
        return text.upper()


def response(*pieces: Any, headers: Any = JSON) -> tuple[UpperCase, FakeResponse]:
    received: Any = FakeResponse(200, headers, pieces)
    return UpperCase(received, [*headers, ("x-a", "1")]), received


def test_it_has_the_status_and_its_own_headers() -> None:
    wrapped, _ = response()
    assert (wrapped.status, wrapped.length, wrapped.header("x-a")) == (200, None, "1")
    assert wrapped.header("x-b") is None


def test_what_comes_to_nothing_is_read_over() -> None:
    wrapped, _ = response(b"a", b"\n", b"\n", b"b")
    assert [wrapped.read(), wrapped.read(), wrapped.read()] == [b"A", b"B", b""]


def test_what_is_passed_is_mapped_too() -> None:
    wrapped, _ = response(b"a", b"\n", b"b")
    pieces: list[bytes] = []
    assert wrapped.read(pieces.append) == b"B"
    assert pieces == [b"A"]


def test_a_failure_follows_what_preceded_it() -> None:
    wrapped, received = response(b"a!", b"b")
    assert wrapped.read() == b"A"
    with pytest.raises(Truncated):
        wrapped.read()
    assert received.closed == 1


def test_a_failure_while_parts_are_passed_is_raised() -> None:
    wrapped, _ = response(b"a!", b"b")
    pieces: list[bytes] = []
    with pytest.raises(Truncated):
        wrapped.read(pieces.append)
    assert pieces == [b"A"]


def test_a_whole_body_is_bounded() -> None:
    assert response(b"ab", b"c")[0].whole(3) == b"abc"
    with pytest.raises(InvalidAnswer, match="over 2 bytes"):
        response(b"ab", b"c")[0].whole(2)


def test_the_parts_of_a_whole_body_are_passed_before_it_fails() -> None:
    parts: list[bytes] = []
    with pytest.raises(InvalidAnswer):
        response(b"ab", b"c")[0].whole(2, parts.append)
    assert parts == [b"ab", b"c"]


def test_a_whole_body_of_another_coding_is_no_answer() -> None:
    with pytest.raises(InvalidAnswer, match="cannot be decoded"):
        response(b"?", headers=[("content-encoding", "br")])[0].whole(9)
