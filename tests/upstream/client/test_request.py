"""The pieces in which the head and the body of a request are sent."""

from __future__ import annotations

import pytest

from engine.upstream.client.connection import PIECE
from engine.upstream.client.request import pieces
from tests.support.http_client import Chunks

HEAD = b"POST / HTTP/1.1\r\n\r\n"


@pytest.mark.parametrize("body", [None, b"", b"x" * PIECE])
def test_a_small_request_is_one_piece(body: bytes | None) -> None:
    assert list(pieces(HEAD, body)) == [HEAD + (body or b"")]


def test_a_large_body_is_sent_in_pieces() -> None:
    body = bytes(range(256)) * (PIECE // 100)
    sizes = [len(piece) for piece in pieces(HEAD, body)]
    assert b"".join(pieces(HEAD, body)) == HEAD + body
    assert sizes[0] == len(HEAD) + PIECE
    assert max(sizes[1:]) <= PIECE


def test_the_chunks_of_a_spool_are_pieces() -> None:
    assert list(pieces(HEAD, Chunks(b"ab", b"cd"))) == [HEAD + b"ab", b"cd"]


def test_a_spool_without_chunks_is_sent_as_the_head() -> None:
    assert list(pieces(HEAD, Chunks())) == [HEAD]


@pytest.mark.parametrize("size", [1, 3, 5])
def test_a_spool_whose_chunks_differ_from_its_size_is_an_error(size: int) -> None:
    with pytest.raises(ValueError, match="not as long"):
        list(pieces(HEAD, Chunks(b"ab", b"cd", size=size)))
