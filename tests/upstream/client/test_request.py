"""The head of a request, and the pieces in which it is sent with the body."""

from __future__ import annotations

import pytest

from engine.upstream.client.connection import PIECE
from engine.upstream.client.request import pieces, request_head
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


def test_request_head() -> None:
    head = request_head("POST", "/a?b=c", "h:1", [("Accept", "*/*"), ("X", "é")], 3)
    assert head == (
        b"POST /a?b=c HTTP/1.1\r\nHost: h:1\r\nAccept: */*\r\nX: \xe9\r\nContent-Length: 3\r\n\r\n"
    )
    assert request_head("GET", "/", "h", [], None) == b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"


def test_request_head_that_asks_for_another_protocol() -> None:
    head = request_head("GET", "/", "h", [("upgrade", "websocket")], None)
    assert head.endswith(b"upgrade: websocket\r\nConnection: Upgrade\r\n\r\n")


@pytest.mark.parametrize(
    "header",
    [
        ("X", "a\r\nHost: b"),
        ("X", "a\r\nY: b"),
        ("X", "a\nb"),
        ("X", "a\rb"),
        ("X", "a\0b"),
        ("X", "a\x7fb"),
        ("X", "\u20ac"),
        ("X\r\nY", "a"),
        ("X\nY: b\r\nZ", "a"),
        ("X\0", "a"),
        ("X Y", "a"),
        ("X:", "a"),
        ("", "a"),
        ("é", "a"),
        ("host", "a"),
        ("Host", "a"),
        ("CONTENT-LENGTH", "1"),
        ("Transfer-Encoding", "chunked"),
        ("connection", "close"),
        ("Expect", "100-continue"),
    ],
)
def test_headers_that_are_refused(header: tuple[str, str]) -> None:
    with pytest.raises(ValueError) as excinfo:
        request_head("GET", "/", "h", [("Accept", "secret"), header], None)
    assert "secret" not in str(excinfo.value)
    assert repr(header[0]) in str(excinfo.value)


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("GET", "/a b"),
        ("GET", "/a\r\nX: y"),
        ("GET", "/a\0"),
        ("GET", "/\u20ac"),
        ("GET", ""),
        ("G T", "/"),
        ("", "/"),
        ("GET\r\n", "/"),
    ],
)
def test_request_lines_that_are_refused(method: str, target: str) -> None:
    with pytest.raises(ValueError):
        request_head(method, target, "h", [], None)


@pytest.mark.parametrize("name", ["x-host", "hostess", "connection-x", "expected", "host-x"])
def test_headers_that_resemble_those_of_the_framing(name: str) -> None:
    assert f"{name}: a\r\n".encode() in request_head("GET", "/", "h", [(name, "a")], None)
