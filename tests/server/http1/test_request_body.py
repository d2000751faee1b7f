"""Bodies of requests: what their bytes hold, where they end, and what is refused."""

from __future__ import annotations

import pytest
from gunicorn.config import Config
from gunicorn.http.errors import (
    ChunkMissingTerminator,
    InvalidChunkExtension,
    InvalidChunkSize,
    NoMoreData,
    ParseException,
)
from gunicorn.http.parser import RequestParser
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.exchange.caller_connection import InvalidFraming
from engine.server.http1.request_body import ChunkedBody, LengthBody
from tests.support.thorough import examples

LINE = 4096
TRAILERS = 16_384


def fed(body: ChunkedBody, data: bytes, size: int) -> bytes:
    """What a body holds of data that comes in pieces; the rest is its excess."""
    content = b""
    for at in range(0, len(data), size):
        content += body.feed(data[at : at + size])
        if body.complete:
            body.excess += data[at + size :]
            break
    return content


def test_a_body_ends_where_its_length_says_and_leaves_the_next_request() -> None:
    body = LengthBody(4)
    assert (body.feed(b"ab"), body.complete, body.remaining) == (b"ab", False, 2)
    assert (body.feed(b"cdGET /"), body.complete, body.excess) == (b"cd", True, b"GET /")
    assert LengthBody(0).complete


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize(
    "data",
    [
        b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
        b"003\r\nabc\r\n2;a=b;c\r\nde\r\n0;x\r\n\r\n",
        b"3 ;x\r\nabc\r\n2\t;\r\nde\r\n000\r\nA: b\r\nC-d:\r\n\r\n",
        b"5\r\nabcde\r\n0\r\nx-checksum: \xff\r\n\r\n",
    ],
)
def test_chunks_are_joined_and_what_follows_is_left(data: bytes, size: int) -> None:
    body = ChunkedBody()
    assert fed(body, data + b"GET /", size) == b"abcde"
    assert (body.complete, body.excess) == (True, b"GET /")


@pytest.mark.parametrize("size", [100, 60_000])
@pytest.mark.parametrize("trailers", [b"A: %b\r\n" % (b"b" * 8000) * 2, b"A: b\r\n" * 100])
def test_long_and_many_trailers_are_read(trailers: bytes, size: int) -> None:
    body = ChunkedBody()
    assert fed(body, b"3\r\nabc\r\n0\r\n" + trailers + b"\r\n", size) == b"abc"
    assert body.complete


def test_sizes_are_hexadecimal() -> None:
    body = ChunkedBody()
    assert body.feed(b"1F\r\n" + b"x" * 31 + b"\r\n1f\r\n") == b"x" * 31
    assert body.chunks == 2


INVALID_BODIES = {
    "no number": b"x\r\n",
    "no size": b"\r\n",
    "a sign": b"+3\r\nabc\r\n",
    "0x": b"0x3\r\nabc\r\n",
    "a space before": b" 3\r\nabc\r\n",
    "a space after": b"3 \r\nabc\r\n",
    "an underscore": b"1_0\r\n",
    "too many digits": b"0" * 17 + b"3\r\nabc\r\n",
    "a bare line feed": b"3\nabc\r\n0\r\n\r\n",
    "a line feed in an extension": b"3;a\nb\r\nabc\r\n",
    "a carriage return in an extension": b"3;a\rb\r\nabc\r\n",
    "NUL in an extension": b"3;\x00\r\nabc\r\n",
    "a chunk that is longer": b"3\r\nabcd\r\n",
    "a chunk that is longer, by a line end": b"3\r\nabc\n\r\n",
    "a long line": b"3;" + b"a" * LINE + b"\r\n",
    "an endless line": b"3;" + b"a" * (LINE + 1),
    "a trailer that is none": b"0\r\nhello\r\n\r\n",
    "a trailer with a space in its name": b"0\r\nA : b\r\n\r\n",
    "a folded trailer": b"0\r\nA: b\r\n c\r\n\r\n",
    "an underscore in a trailer": b"0\r\nA_b: c\r\n\r\n",
    "a bare line feed in a trailer": b"0\r\nA: b\n\r\n\r\n",
    "long trailers": b"0\r\n" + b"A: %b\r\n" % (b"b" * 8000) * 3,
    "an endless trailer": b"0\r\nA: " + b"b" * TRAILERS,
    "many trailers": b"0\r\n" + b"A: b\r\n" * 101,
    "tiny chunks": b"1\r\na\r\n" * 10_001,
} | {
    f"a trailer {name}": f"0\r\n{name}: 1\r\n\r\n".encode()
    for name in ("Host", "content-length", "Transfer-Encoding", "Trailer", "Authorization", "TE")
}


@pytest.mark.parametrize("case", INVALID_BODIES)
def test_what_two_servers_could_read_differently_is_refused(case: str) -> None:
    with pytest.raises(InvalidFraming):
        fed(ChunkedBody(), INVALID_BODIES[case], 60_000)


def test_many_chunks_of_a_fair_size_are_read() -> None:
    data = (b"40\r\n" + b"x" * 64 + b"\r\n") * 11_000
    assert len(fed(ChunkedBody(), data, 65_536)) == 64 * 11_000


PARTS = st.sampled_from(
    [
        *(b"3\r\nabc\r\n", b"3;x=y\r\nabc\r\n", b"10\r\n0123456789abcdef\r\n", b"1\r\n", b"3"),
        *(b"0\r\n\r\n", b"0\r\n", b"\r\n", b"a", b"\n", b"0", b"\r", b" ", b";", b"-"),
        *(b"A: b\r\n", b"Host: h\r\n"),
    ]
)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(PARTS, max_size=6), st.integers(1, 30))
def test_what_gunicorn_refuses_is_refused_and_the_rest_reads_the_same(
    parts: list[bytes], size: int
) -> None:
    data, body = b"".join(parts), ChunkedBody()
    try:
        own_content = fed(body, data, size)
    except InvalidFraming:
        return
    if not body.complete:
        return
    head = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    request = next(RequestParser(Config(), [head + data], ("10.0.0.1", 1)))
    try:
        gunicorn_content = request.body.read()
    except (
        ParseException,
        InvalidChunkSize,
        InvalidChunkExtension,
        ChunkMissingTerminator,
        NoMoreData,
    ) as error:
        pytest.fail(f"gunicorn refuses it: {error!r}")
    assert own_content == gunicorn_content
