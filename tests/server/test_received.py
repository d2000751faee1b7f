"""What has come over a connection, as requests read it."""

from __future__ import annotations

import pytest

from engine.server.received import AwaitedReader, KnownBody, Received


class Sock:
    """A connection over which these pieces come."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = list(pieces)

    def recv(self, size: int) -> bytes:
        return self.pieces.pop(0) if self.pieces else b""


def body(length: int, *pieces: bytes) -> tuple[KnownBody, Received]:
    received = Received(Sock(*pieces))
    return KnownBody(received, length), received


def test_what_was_not_used_is_read_again_first() -> None:
    received = Received(Sock(b"cd", b"ef"))
    received.unread(b"ab")
    assert [received.read(), received.read(), received.read()] == [b"ab", b"cd", b"ef"]


def test_what_was_read_ahead_is_there_without_waiting() -> None:
    received = Received(Sock(b"a"))
    assert received.take_buffered() == b""
    received.unread(b"b")
    assert received.take_buffered() == b"b"
    assert received.read() == b"a"


def test_a_body_ends_where_its_length_says_and_leaves_the_next_request() -> None:
    made, received = body(4, b"ab", b"cdGET /")
    assert made.read() == b"abcd"
    assert (made.read(), made.left) == (b"", 0)
    assert received.read() == b"GET /"


def test_a_body_is_read_in_parts() -> None:
    made, _ = body(5, b"abc", b"defg")
    assert [made.read(2), made.read(2), made.read(2)] == [b"ab", b"cd", b"e"]


def test_a_body_that_breaks_off_is_what_came() -> None:
    made, _ = body(5, b"ab")
    assert made.read() == b"ab"


@pytest.mark.parametrize("pieces", [(b"a\nbc\nd",), (b"a", b"\nb", b"c\n", b"d")])
def test_lines_are_read_as_from_any_file(pieces: tuple[bytes, ...]) -> None:
    made, _ = body(6, *pieces)
    assert list(made) == [b"a\n", b"bc\n", b"d"]


def test_what_a_line_left_is_read_first() -> None:
    made, _ = body(6, b"a\nbc\nd")
    assert made.readline() == b"a\n"
    assert made.read() == b"bc\nd"


def test_a_body_has_arrived_when_nothing_of_it_has_to_be_waited_for() -> None:
    made, received = body(4, b"abcd")
    assert not made.arrived
    received.unread(b"abc")
    assert not made.arrived
    received.unread(b"x")
    assert made.arrived
    assert body(0)[0].arrived


class Sink:
    """A connection to a caller."""

    def __init__(self) -> None:
        self.sent = b""

    def sendall(self, data: bytes) -> None:
        self.sent += data


def test_100_continue_is_sent_once_and_when_the_body_is_read() -> None:
    made, received = body(4, b"ab", b"cd", b"next")
    sink = Sink()
    awaited = AwaitedReader(made, sink)
    assert sink.sent == b""
    assert awaited.read(2) + awaited.read(9) == b"abcd"
    assert sink.sent == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert awaited.unreader is received
