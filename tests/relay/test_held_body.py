"""A body that is held up to its end."""

from __future__ import annotations

import gzip
import os
import resource
from typing import IO

import pytest

from engine.process.child_process import ChildFailed
from engine.relay.held_body import LARGE, PIECE, HeldBody, write_all


def held(*parts: bytes, encoding: str = "") -> HeldBody:
    body = HeldBody(encoding)
    for part in parts:
        body.add(part)
    return body


@pytest.mark.parametrize("size", [0, LARGE, LARGE + 1])
def test_its_bytes_are_as_they_arrived(size: int) -> None:
    data = os.urandom(size)
    body = held(data[:7], data[7:])
    assert (body.size, body.is_large) == (size, size > LARGE)
    assert body.take() == data
    body.close()


def test_its_text_is_decoded_and_says_whether_it_is_large() -> None:
    body = held(gzip.compress(b"x" * 2 * LARGE), encoding="gzip")
    assert body.is_large
    assert body.decode() == b"x" * 2 * LARGE
    assert held(b"?", encoding="gzip").decode() is None
    body.close()


def test_a_large_one_passes_in_pieces_and_is_not_kept() -> None:
    data = os.urandom(2 * LARGE)
    body = held(data)
    pieces = [*body.pieces()]
    assert (b"".join(pieces), max(map(len, pieces))) == (data, PIECE)
    assert not body.is_large


@pytest.mark.parametrize("first", [LARGE // 2, LARGE + 1], ids=["in memory", "in a file"])
def test_what_does_not_fit_is_not_held_by_half(first: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    body = held(b"a" * first)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGE + 10, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            body.add(b"b" * LARGE)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (body.size, b"".join(body.pieces())) == (first, b"a" * first)


def test_another_process_takes_it_and_writes_a_file() -> None:
    body = held(b"ab" * LARGE)

    def compute(file: IO[bytes]) -> int:
        text = body.decode() or b""
        write_all(file, text[:10])
        return len(text)

    size, file = body.aside(compute)
    assert (size, file.read()) == (2 * LARGE, b"ab" * 5)
    assert body.take() == b""  # the other process has freed it
    file.close()
    body.close()


def test_a_process_that_fails_leaves_nothing() -> None:
    body = held(b"a" * 2 * LARGE)

    def fail(file: IO[bytes]) -> None:
        raise ZeroDivisionError

    with pytest.raises(ChildFailed, match="ZeroDivisionError"):
        body.aside(fail)
    body.close()
