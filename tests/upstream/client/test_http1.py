"""Responses as bytes: which are valid, and where each ends. The heads of requests."""

from __future__ import annotations

from typing import Any

import pytest

from engine.upstream.client.failures import (
    HeadersTooLarge,
    ProtocolFailure,
    Reset,
    Truncated,
    UpstreamFailure,
)
from engine.upstream.client.http1 import MAX_HEADERS, ResponseParser
from tests.support.each import each

H = b"HTTP/1.1 200 OK\r\n"
TE = b"Transfer-Encoding: chunked\r\n"
LENGTH = b"Content-Length: 2\r\n"
CHUNKED = H + TE + b"\r\n"
SIZED = H + b"Content-Length: 2\r\n\r\n"

# name: (method, bytes, status, body, length, reusable)
COMPLETE: dict[str, tuple[str, bytes, int, bytes, int | None, bool]] = {
    "sized": ("GET", SIZED + b"ok", 200, b"ok", 2, True),
    "empty": ("GET", H + b"Content-Length: 0\r\n\r\n", 200, b"", 0, True),
    "no reason": ("GET", b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", 200, b"ok", 2, True),
    "chunked": ("GET", CHUNKED + b"2\r\nok\r\n1\r\n!\r\n0\r\n\r\n", 200, b"ok!", None, True),
    "chunked twice": ("GET", H + TE + TE + b"\r\n2\r\nok\r\n0\r\n\r\n", 200, b"ok", None, False),
    "chunk extensions": (
        "GET",
        CHUNKED + b'2;a=b;c="d e"\r\nok\r\n0;x\r\n\r\n',
        200,
        b"ok",
        None,
        True,
    ),
    "trailers": ("GET", CHUNKED + b"2\r\nok\r\n0\r\nA: x\r\nB: y\r\n\r\n", 200, b"ok", None, True),
    "to be closed": ("GET", H + LENGTH + b"Connection: close\r\n\r\nok", 200, b"ok", 2, False),
    "http/1.0": ("GET", b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, b"ok", 2, False),
    "http/1.0 kept": (
        "GET",
        b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok",
        200,
        b"ok",
        2,
        True,
    ),
    "head": ("HEAD", H + b"Content-Length: 2\r\n\r\n", 200, b"", 2, True),
    "head chunked": ("HEAD", CHUNKED, 200, b"", None, False),
    "204": ("GET", b"HTTP/1.1 204 No Content\r\n\r\n", 204, b"", None, True),
    "304": ("GET", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304, b"", 9, True),
    "interim": (
        "GET",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 P\r\nContent-Length: 7\r\n\r\n"
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + SIZED + b"ok",
        200,
        b"ok",
        2,
        True,
    ),
    "interim with a length and a coding of its own": (
        "GET",
        b"HTTP/1.1 102 P\r\n" + LENGTH + b"\r\nHTTP/1.1 102 P\r\n" + TE + b"\r\n"
        + CHUNKED + b"2\r\nok\r\n0\r\n\r\n",
        200,
        b"ok",
        None,
        True,
    ),
    "offers an upgrade": (
        "GET",
        H + b"Upgrade: h2c\r\nConnection: upgrade\r\nContent-Length: 2\r\n\r\nok",
        200,
        b"ok",
        2,
        True,
    ),
}  # fmt: skip

BROKEN = {
    "both lengths": H + LENGTH + TE + b"\r\n2\r\nok\r\n0\r\n\r\n",
    "both lengths, turned": H + TE + LENGTH + b"\r\n",
    "two lengths": H + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nok",
    "one length twice": H + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\nok",
    "a list of lengths": H + b"Content-Length: 2, 2\r\n\r\nok",
    "negative length": H + b"Content-Length: -2\r\n\r\nok",
    "signed length": H + b"Content-Length: +2\r\n\r\nok",
    "no length in it": H + b"Content-Length: \r\n\r\nok",
    "huge length": H + b"Content-Length: 99999999999999999999999\r\n\r\nok",
    "gzip coding": H + b"Transfer-Encoding: gzip\r\n\r\nok",
    "gzip, chunked": H + b"Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    "chunked, gzip": H + b"Transfer-Encoding: chunked, gzip\r\n\r\nok",
    "chunked twice in one line": H + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "identity": H + b"Transfer-Encoding: identity\r\n\r\nok",
    "bad chunk size": CHUNKED + b"zz\r\nok\r\n0\r\n\r\n",
    "0x chunk size": CHUNKED + b"0x2\r\nok\r\n0\r\n\r\n",
    "negative chunk size": CHUNKED + b"-2\r\nok\r\n",
    "huge chunk size": CHUNKED + b"fffffffffffffffff\r\nok\r\n",
    "spaced chunk size": CHUNKED + b"2 \r\nok\r\n0\r\n\r\n",
    "empty chunk size": CHUNKED + b"\r\nok\r\n",
    "chunk too long": CHUNKED + b"2\r\nokay\r\n0\r\n\r\n",
    "chunks by LF": CHUNKED + b"2\nok\n0\n\n",
    "a length as trailer": CHUNKED + b"2\r\nok\r\n0\r\nContent-Length: 5\r\n\r\n",
    "garbage as trailer": CHUNKED + b"2\r\nok\r\n0\r\nfoo\r\n\r\n",
    "lines by LF": b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
    "folded header": H + b"A: b\r\n c\r\nContent-Length: 2\r\n\r\nok",
    "space before colon": H + b"A : b\r\nContent-Length: 2\r\n\r\nok",
    "header without colon": H + b"Ab\r\n\r\nok",
    "header without name": H + b": b\r\n\r\nok",
    "NUL in a value": H + b"A: b\0c\r\n\r\nok",
    "CR in a value": H + b"A: b\rc\r\n\r\nok",
    "8 bits in a name": H + b"A\xe9: b\r\n\r\nok",
    "empty line first": b"\r\n" + SIZED + b"ok",
    "RTSP": b"RTSP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/2.0": b"HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/0.9": b"HTTP/0.9 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.2": b"HTTP/1.2 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "lower case": b"http/1.1 200 OK\r\n\r\n",
    "status 099": b"HTTP/1.1 099 OK\r\nContent-Length: 2\r\n\r\nok",
    "status 600": b"HTTP/1.1 600 OK\r\nContent-Length: 2\r\n\r\nok",
    "status 2000": b"HTTP/1.1 2000 OK\r\n\r\n",
    "a request": b"GET / HTTP/1.1\r\n\r\n",
    "TLS": b"\x15\x03\x01\x00\x02\x02\x46",
    "an h2 frame": b"\x00\x00\x12\x04\x00\x00\x00\x00\x00",
    "a 101 without Upgrade": b"HTTP/1.1 101 S\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
}  # fmt: skip

CLOSE_DELIMITED = H + b"X: y\r\n\r\nok"


def parse(data: bytes, method: str = "GET", *cuts: int) -> ResponseParser:
    parser = ResponseParser(method)
    for start, end in zip((0, *cuts), (*cuts, len(data)), strict=True):
        if data[start:end]:
            parser.feed(data[start:end])
    return parser


def state_of(parser: ResponseParser) -> tuple[Any, ...]:
    return (
        parser.status,
        parser.headers,
        parser.take(),
        parser.length,
        parser.is_complete,
        parser.reusable,
    )


@pytest.mark.parametrize("name", COMPLETE)
def test_a_complete_response(name: str) -> None:
    method, data, status, body, length, reusable = COMPLETE[name]
    parser = parse(data, method)
    assert (parser.status, parser.take(), parser.length) == (status, body, length)
    assert parser.is_complete
    assert parser.reusable is reusable
    assert not parser.excess


@pytest.mark.parametrize("name", COMPLETE)
def test_a_response_split_at_any_byte(name: str) -> None:
    method, data = COMPLETE[name][:2]
    expected = state_of(parse(data, method))
    for cut in range(1, len(data)):
        assert state_of(parse(data, method, cut)) == expected, cut
    assert state_of(parse(data, method, *range(1, len(data)))) == expected


@pytest.mark.parametrize("name", COMPLETE)
def test_a_response_that_ends_at_any_byte(name: str) -> None:
    method, data = COMPLETE[name][:2]
    for cut in range(len(data)):
        parser = parse(data[:cut], method)
        assert not parser.is_complete
        with pytest.raises((Reset, Truncated)) as excinfo:
            parser.end()
        # Between two messages nothing of the final response has arrived.
        assert (excinfo.type is Reset) == (not parser.in_message), cut


@each("name", BROKEN)
def test_an_invalid_response(name: str) -> None:
    data = BROKEN[name]
    with pytest.raises(ProtocolFailure):
        parse(data)
    with pytest.raises(ProtocolFailure):
        parse(data, "GET", *range(1, len(data)))


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    parser = parse(CLOSE_DELIMITED)
    assert not parser.is_complete
    parser.end()
    assert state_of(parser)[2:] == (b"ok", None, True, False)


def test_a_reset_truncates_a_body_that_ends_with_the_connection() -> None:
    with pytest.raises(Truncated):
        parse(CLOSE_DELIMITED).end(clean=False)


@pytest.mark.parametrize(
    "name", [name for name, case in COMPLETE.items() if case[-1] and case[0] != "HEAD"]
)
@pytest.mark.parametrize("extra", [b"x", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"])
def test_bytes_after_the_end_make_a_connection_unusable(name: str, extra: bytes) -> None:
    method, data, _, body, *_ = COMPLETE[name]
    for parser in (parse(data + extra, method), parse(data + extra, method, len(data))):
        assert parser.is_complete
        assert parser.take() == body
        assert parser.excess
        assert not parser.reusable


def test_a_body_after_a_response_to_head_makes_a_connection_unusable() -> None:
    parser = parse(SIZED + b"ok", "HEAD")
    assert parser.take() == b""
    assert parser.excess
    assert not parser.reusable


def test_bytes_after_connection_close_are_ignored() -> None:
    parser = parse(H + b"Connection: close\r\nContent-Length: 2\r\n\r\nok" + b"more")
    assert parser.is_complete
    assert parser.take() == b"ok"


def test_header_names_are_lower_case_and_values_latin_1_in_order() -> None:
    data = H + b"Set-Cookie: a\r\nX-Y: \xe9 \r\nset-cookie:b\r\nE:\r\nContent-Length: 0\r\n\r\n"
    assert parse(data).headers == [
        ("set-cookie", "a"),
        ("x-y", "é"),
        ("set-cookie", "b"),
        ("e", ""),
        ("content-length", "0"),
    ]


def test_headers_of_interim_responses_are_dropped() -> None:
    assert parse(b"HTTP/1.1 103 E\r\nLink: a\r\n\r\n" + SIZED).headers == [("content-length", "2")]


def test_a_101_with_the_bytes_after_it() -> None:
    data = b"HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n"
    for cut in range(1, len(data) + 1):
        parser = ResponseParser("GET", upgrade=True)
        parser.feed(data[:cut])
        if data[cut:]:
            parser.feed(data[cut:] + b"\x81\x01a")
        assert parser.status == 101
        assert parser.is_complete
        assert not parser.reusable
        assert parser.leftover == (b"\x81\x01a" if data[cut:] else b"")


def feed_in_pieces(data: bytes, size: int = 65536) -> ResponseParser:
    return parse(data, "GET", *range(size, len(data), size))


def test_200_kb_of_headers_are_accepted() -> None:
    lines = b"".join(b"X-%d: %s\r\n" % (number, b"v" * 1000) for number in range(200))
    parser = feed_in_pieces(H + lines + b"Content-Length: 2\r\n\r\nok")
    assert len(parser.headers) == 201
    assert parser.take() == b"ok"


ENDLESS = {
    "headers": H + b"".join(b"X-%d: %s\r\n" % (n, b"v" * 1000) for n in range(300)) + b"\r\n",
    "one header": H + b"X: " + b"v" * 400_000,
    "reason": b"HTTP/1.1 200 " + b"v" * 400_000,
    "interim": b"HTTP/1.1 100 Continue\r\n\r\n" * 20_000,
    "interim headers": b"HTTP/1.1 103 E\r\nLink: %s\r\n\r\n" % (b"v" * 1000) * 300,
    "trailer": CHUNKED + b"0\r\nX: " + b"v" * 400_000,
    "trailers": CHUNKED + b"0\r\n" + b"X: y\r\n" * 50_000,
    "chunk extension": CHUNKED + b"2;" + b"v" * 400_000,
}


@pytest.mark.parametrize("name", ENDLESS)
def test_endless_heads_and_trailers_are_refused(name: str) -> None:
    with pytest.raises(HeadersTooLarge):
        feed_in_pieces(ENDLESS[name])


def test_too_many_headers_at_once() -> None:
    with pytest.raises(HeadersTooLarge):
        parse(ENDLESS["headers"] + b"body")


@pytest.mark.parametrize("more", [b"", b"a:\r\n"])
def test_a_head_may_have_so_many_headers_and_no_more(more: bytes) -> None:
    data = H + b"a:\r\n" * MAX_HEADERS + more + b"\r\n"
    if more:
        with pytest.raises(HeadersTooLarge, match=f"more than {MAX_HEADERS} headers"):
            parse(data)
    else:
        assert len(parse(data).headers) == MAX_HEADERS


def test_many_small_chunks_are_accepted() -> None:
    parser = parse(CHUNKED)
    for _ in range(60_000):
        parser.feed(b"2;x\r\n")
        parser.feed(b"ok\r\n")
    parser.feed(b"0\r\n\r\n")
    assert len(parser.take()) == 120_000


def test_a_failure_names_its_reason() -> None:
    with pytest.raises(UpstreamFailure) as excinfo:
        parse(BROKEN["two lengths"])
    assert excinfo.value.kind == "protocol"
    assert excinfo.value.message.startswith("the upstream's answer is not valid HTTP/1.1: ")


# --- requests
