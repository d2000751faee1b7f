"""The bytes of a response, and the writes that send it."""

from __future__ import annotations

import re

import pytest

from engine.server.http1.response import CHUNK, ResponseWriter


def writer(method: str = "GET", version: int = 1, close: bool = False) -> ResponseWriter:
    return ResponseWriter(method, version, close)


def undated(data: bytes) -> bytes:
    return re.sub(rb"Date: [^\r]+", b"Date: D", data)


def output_of(
    *pieces: bytes,
    status: str = "200 OK",
    length: int | None = None,
    method: str = "GET",
    version: int = 1,
) -> list[bytes]:
    """What is sent for each piece of a body, and at its end."""
    new_writer = writer(method, version)
    headers = [("content-type", "text/plain")]
    if length is not None:
        headers.append(("content-length", str(length)))
    new_writer.start(status, headers)
    data = [new_writer.write(piece) for piece in pieces] + [new_writer.end()]
    return [undated(each) for each in data if each]


def head(*lines: bytes, status: bytes = b"200 OK", version: bytes = b"1.1") -> bytes:
    every = [b"HTTP/" + version + b" " + status, b"Date: D", *lines]
    return b"\r\n".join(every) + b"\r\n\r\n"


KEEP, CLOSE = b"Connection: keep-alive", b"Connection: close"
TEXT, CHUNKED = b"content-type: text/plain", b"Transfer-Encoding: chunked"


def test_a_small_response_is_one_piece_with_its_head() -> None:
    assert output_of(b"ok", length=2) == [head(KEEP, TEXT, b"content-length: 2") + b"ok"]


def test_a_stream_is_chunked_as_it_comes() -> None:
    first = head(KEEP, CHUNKED, TEXT) + b"1\r\na\r\n"
    assert output_of(b"a", b"b" * 16) == [first, b"10\r\n" + b"b" * 16 + b"\r\n", b"0\r\n\r\n"]


def test_an_empty_piece_does_not_end_a_stream() -> None:
    assert output_of(b"", b"a", b"") == [head(KEEP, CHUNKED, TEXT), b"1\r\na\r\n", b"0\r\n\r\n"]


def test_a_response_without_a_body_has_its_head_all_the_same() -> None:
    assert output_of() == [head(KEEP, CHUNKED, TEXT) + b"0\r\n\r\n"]
    assert output_of(length=0) == [head(KEEP, TEXT, b"content-length: 0")]


def test_no_more_is_sent_than_was_announced() -> None:
    assert output_of(b"abc", b"d", length=2) == [head(KEEP, TEXT, b"content-length: 2") + b"ab"]


def test_after_less_than_was_announced_the_connection_is_closed() -> None:
    new_writer = writer()
    new_writer.start("200 OK", [("content-length", "3")])
    new_writer.write(b"ab")
    assert not new_writer.close
    new_writer.end()
    assert new_writer.close


def test_head_has_the_length_and_no_body() -> None:
    assert output_of(b"ok", length=2, method="HEAD") == [head(KEEP, TEXT, b"content-length: 2")]


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
def test_what_may_have_no_body_has_none(status: str) -> None:
    assert output_of(b"x", status=status) == [head(KEEP, TEXT, status=status.encode())]


def test_a_204_says_no_length() -> None:
    """RFC 9110 8.6."""
    assert output_of(status="204 No Content", length=0) == [
        head(KEEP, TEXT, status=b"204 No Content")
    ]


def test_a_304_may_say_the_length_and_keeps_the_connection() -> None:
    expected = head(KEEP, TEXT, b"content-length: 9", status=b"304 Not Modified")
    assert output_of(status="304 Not Modified", length=9) == [expected]


def test_http_1_0_is_ended_by_closing() -> None:
    assert output_of(b"a", b"b", version=0) == [head(CLOSE, TEXT, version=b"1.0") + b"a", b"b"]


@pytest.mark.parametrize("length", [None, "2"])
def test_a_last_response_has_connection_close(length: str | None) -> None:
    new_writer = writer(close=True)
    new_writer.start("200 OK", [("content-length", length)] if length else [])
    assert b"\r\nConnection: close\r\n" in new_writer.write(b"ok")


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([("connection", "Upgrade"), ("upgrade", "HTTP/1.1")], [b"upgrade: HTTP/1.1"]),
        ([("upgrade", "h2c")], []),
        ([("connection", "close"), ("date", "never"), ("server", "x"), ("te", "x")], []),
        ([("transfer-encoding", "gzip"), ("keep-alive", "1"), ("x-a", "1")], [b"x-a: 1"]),
    ],
)
def test_headers_about_the_connection_are_the_servers(
    headers: list[tuple[str, str]], expected: list[bytes]
) -> None:
    new_writer = writer()
    new_writer.start("200 OK", [*headers, ("content-length", "0")])
    first = b"Connection: upgrade" if ("connection", "Upgrade") in headers else KEEP
    assert undated(new_writer.end()) == head(first, *expected, b"content-length: 0")


def test_the_date_is_that_of_now() -> None:
    new_writer = writer()
    new_writer.start("200 OK", [])
    pattern = rb"Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n"
    assert re.search(pattern, new_writer.end())


def test_a_chunk_says_its_size() -> None:
    assert CHUNK % (16, b"a" * 16) == b"10\r\n" + b"a" * 16 + b"\r\n"


def test_what_is_text_in_latin_1_is_sent_as_it_is() -> None:
    new_writer = writer()
    value = "".join(map(chr, [9, *range(32, 127), *range(128, 256)]))
    new_writer.start("200 OK", [("x-a", value)])
    assert b"\r\nx-a: " + value.encode("latin-1") + b"\r\n\r\n" in new_writer.end()


def test_long_names_are_sent_like_short_ones() -> None:
    new_writer = writer()
    new_writer.start("200 OK", [("x" * 60_000, "a")])
    assert b"x" * 60_000 + b": a\r\n" in new_writer.end()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x-a", "b\r\nx-c: d"),
        ("x-a", "b\nc"),
        ("x-a", "b\rc"),
        ("x-a", "b\n\rc"),
        ("x-a", "\x7f"),
        ("x-a\r\nx-b", "c"),
        ("", "b"),
        ("x-a", "\0"),
        ("x a", "b"),
        ("X-A", "b"),
        ("x" * 200 + " ", "b"),
        ("x", "模"),
    ],
)
def test_a_header_that_is_no_line_of_its_own_is_a_fault_of_ours(name: str, value: str) -> None:
    new_writer = writer()
    with pytest.raises(ValueError, match="header"):
        new_writer.start("200 OK", [(name, value)])
    assert not new_writer.head_sent
