"""What an answer is on the wire, and in how many pieces it is sent."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from engine.server import outgoing as module
from engine.server.outgoing import Outgoing


class Sock:
    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def sendall(self, data: bytes) -> None:
        self.sent.append(data)


def outgoing(method: str = "GET", version: tuple[int, int] = (1, 1)) -> tuple[Outgoing, Sock]:
    sock = Sock()
    request = SimpleNamespace(method=method, version=version, should_close=lambda: False)
    return Outgoing(request, sock, SimpleNamespace()), sock


def sent(
    *pieces: bytes, status: str = "200 OK", length: int | None = None, **request: Any
) -> list[bytes]:
    out, sock = outgoing(**request)
    headers = [("content-type", "text/plain")]
    if length is not None:
        headers.append(("content-length", str(length)))
    out.start_response(status, headers)
    for piece in pieces:
        out.write(piece)
    out.close()
    return [re.sub(rb"Date: [^\r]+", b"Date: D", data) for data in sock.sent]


def head(*lines: bytes, status: bytes = b"200 OK", version: bytes = b"1.1") -> bytes:
    every = [b"HTTP/" + version + b" " + status, b"Date: D", *lines]
    return b"\r\n".join(every) + b"\r\n\r\n"


KEEP, CLOSE = b"Connection: keep-alive", b"Connection: close"
TEXT, CHUNKED = b"content-type: text/plain", b"Transfer-Encoding: chunked"


def test_a_small_answer_is_one_piece_with_its_head() -> None:
    assert sent(b"ok", length=2) == [head(KEEP, TEXT, b"content-length: 2") + b"ok"]


def test_a_stream_is_chunked_as_it_comes() -> None:
    first = head(KEEP, CHUNKED, TEXT) + b"1\r\na\r\n"
    assert sent(b"a", b"b" * 16) == [first, b"10\r\n" + b"b" * 16 + b"\r\n", b"0\r\n\r\n"]


def test_an_empty_piece_does_not_end_a_stream() -> None:
    assert sent(b"", b"a", b"") == [head(KEEP, CHUNKED, TEXT), b"1\r\na\r\n", b"0\r\n\r\n"]


def test_an_answer_without_a_body_has_its_head_all_the_same() -> None:
    assert sent() == [head(KEEP, CHUNKED, TEXT) + b"0\r\n\r\n"]
    assert sent(length=0) == [head(KEEP, TEXT, b"content-length: 0")]


def test_no_more_is_sent_than_was_announced() -> None:
    assert sent(b"abc", b"d", length=2) == [head(KEEP, TEXT, b"content-length: 2") + b"ab"]


def test_head_has_the_length_and_no_body() -> None:
    assert sent(b"ok", length=2, method="HEAD") == [head(KEEP, TEXT, b"content-length: 2")]


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
def test_what_may_have_no_body_has_none(status: str) -> None:
    assert sent(b"x", status=status) == [head(KEEP, TEXT, status=status.encode())]


def test_a_204_says_no_length() -> None:
    """RFC 9110 8.6."""
    assert sent(status="204 No Content", length=0) == [head(KEEP, TEXT, status=b"204 No Content")]


def test_http_1_0_is_ended_by_closing() -> None:
    got = sent(b"a", b"b", version=(1, 0))
    assert got == [head(CLOSE, TEXT, version=b"1.0") + b"a", b"b"]


class Taking(Sock):
    """Takes so many bytes of an offer at once."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    def send_some(self, data: bytes) -> int:
        taken, self.room = data[: self.room], max(0, self.room - len(data))
        self.sent.append(taken)
        return len(taken)


def offering(room: int, version: tuple[int, int] = (1, 1)) -> tuple[Outgoing, Taking]:
    out, _ = outgoing(version=version)
    out.sock = sock = Taking(room)
    out.start_response("200 OK", [])
    out.write(b"first")
    sock.sent.clear()
    return out, sock


def test_what_is_offered_is_a_chunk() -> None:
    out, sock = offering(100)
    assert out.try_send is not None
    assert out.try_send(b"a" * 16)
    assert sock.sent == [b"10\r\n" + b"a" * 16 + b"\r\n"]


@pytest.mark.parametrize("room", range(7))
def test_what_was_not_taken_of_an_offer_goes_before_all_else(room: int) -> None:
    for after in (b"", b"d"):
        out, sock = offering(room)
        assert out.try_send is not None
        assert not out.try_send(b"abc")
        assert len(b"".join(sock.sent)) == room
        out.write(after)
        out.close()
        more = b"1\r\nd\r\n" if after else b""
        assert b"".join(sock.sent) == b"3\r\nabc\r\n" + more + b"0\r\n\r\n"


def test_there_is_no_offer_without_chunks_or_without_a_socket_that_takes_it() -> None:
    assert offering(9, version=(1, 0))[0].try_send is None
    out, _ = outgoing()
    out.start_response("200 OK", [])
    assert out.try_send is None


def test_the_date_is_that_of_now() -> None:
    out, sock = outgoing()
    out.start_response("200 OK", [])
    out.close()
    pattern = rb"Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n"
    assert re.search(pattern, sock.sent[0])


def test_what_is_text_in_latin_1_is_sent_as_it_is() -> None:
    out, sock = outgoing()
    value = "".join(map(chr, [9, *range(32, 127), *range(128, 256)]))
    out.start_response("200 OK", [("x-a", value)])
    out.close()
    assert b"\r\nx-a: " + value.encode("latin-1") + b"\r\n\r\n" in sock.sent[0]


def test_names_that_are_known_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_names", set())
    monkeypatch.setattr(module, "_MOST_NAMES", 2)
    for number in range(5):
        out, sock = outgoing()
        out.start_response("200 OK", [(f"x-{number}", "a")])
        out.close()
        assert b"x-%d: a" % number in sock.sent[0]
    assert len(module._names) == 2


def test_long_names_are_not_kept() -> None:
    out, sock = outgoing()
    out.start_response("200 OK", [("x" * 60_000, "a")])
    out.close()
    assert b"x" * 60_000 + b": a\r\n" in sock.sent[0]
    assert max(map(len, module._names)) <= 100


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
        ("x", "模"),
    ],
)
def test_a_header_that_is_no_line_of_its_own_is_a_fault_of_ours(name: str, value: str) -> None:
    """No ParseException: callers are not to be told that it is theirs."""
    out, sock = outgoing()
    with pytest.raises(ValueError, match="header"):
        out.start_response("200 OK", [(name, value)])
    assert not sock.sent
