"""Requests as they stand on the wire: what is read, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from gunicorn.config import Config
from gunicorn.http.errors import ParseException

from engine.server.strict import Requests

PEER = ("10.0.0.1", 4711)


def parsed(data: bytes, peer: Any = PEER) -> Any:
    return next(Requests(Config(), [data], peer))


def get(*headers: bytes, target: bytes = b"/") -> bytes:
    return b"GET " + target + b" HTTP/1.1\r\nHost: h:1\r\n" + b"".join(headers) + b"\r\n"


@pytest.mark.parametrize(
    "line", [b"X: a\r\n b\r\n", b"X: a\n", b"X: a\rb\r\n"], ids=["folded", "lf", "cr"]
)
def test_what_two_parsers_read_differently_is_refused(line: bytes) -> None:
    with pytest.raises(ParseException):
        parsed(get(line))


@pytest.mark.parametrize("careful", [b"", b"X_Y: 1\r\n"], ids=["plain", "read by gunicorn"])
@pytest.mark.parametrize(
    "line",
    [
        b"GET  / HTTP/1.1",
        b"GET /  HTTP/1.1",
        b" GET / HTTP/1.1",
        b"GET / HTTP/1.1 ",
        b"GET\t/ HTTP/1.1",
        b"GET /\tHTTP/1.1",
        b"GET / HTTP/1.1\t",
        b"GET \t/ HTTP/1.1",
        b"GET /a b HTTP/1.1",
        b"\r\nGET  / HTTP/1.1",
        b"\r\n\r\nGET / HTTP/1.1",
        b"\r\n" * 100 + b"GET / HTTP/1.1",
        b"\nGET / HTTP/1.1",
        b"\rGET / HTTP/1.1",
        b" \r\nGET / HTTP/1.1",
    ],
)
def test_a_request_line_has_one_space_between_its_parts(line: bytes, careful: bytes) -> None:
    with pytest.raises(ParseException):
        parsed(line + b"\r\nHost: h\r\n" + careful + b"\r\n")


@pytest.mark.parametrize("target", [b"/", b"/a?b=c", b"http://h/a", b"/%20", b"/\xa0"])
def test_one_empty_line_may_stand_before_a_request(target: bytes) -> None:
    assert parsed(b"\r\n" + get(target=target)).uri == target.decode("latin-1")


LENGTHS = ["0", "5", "0" * 16 + "5", "0" * 17 + "5", "0" * 19 + "5"]


@pytest.mark.parametrize("length", LENGTHS)
def test_a_body_is_as_long_as_its_length_says(length: str) -> None:
    data = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %b\r\n\r\nhello" % length.encode()
    assert parsed(data).body.read() == b"hello"[: int(length)]


@pytest.mark.parametrize(
    "length", [str(2**64), "9" * 400, "0" * 5000 + "5", "+5", "5, 5", "0x5", "5_0", ""]
)
def test_an_odd_length_is_no_empty_body(length: str) -> None:
    """Either it is refused, or what follows is the body and never the next request."""
    data = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %b\r\n\r\nhello" % length.encode()
    try:
        made = parsed(data)
    except ParseException:
        return
    assert made.body.read() == b"hello"


def test_gunicorns_own_parser_is_as_careful_with_bodies() -> None:
    config = Config()
    config.set("http_parser", "python")
    data = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"
    assert next(Requests(config, [data], PEER)).body.read() == b"hello"


@pytest.mark.parametrize("name", ["Host", "Content-Type", "Content-Length"])
def test_what_may_stand_once_does(name: str) -> None:
    line = f"{name}: 0\r\n".encode()
    host = b"" if name == "Host" else b"Host: h\r\n"
    with pytest.raises(ParseException):
        parsed(b"POST / HTTP/1.1\r\n" + host + line * 2 + b"\r\n")


def test_of_two_connection_headers_the_first_counts_as_for_gunicorn() -> None:
    assert parsed(get(b"Connection: close\r\n", b"Connection: keep-alive\r\n")).should_close()
    assert not parsed(get(b"Connection: keep-alive\r\n", b"Connection: close\r\n")).should_close()
