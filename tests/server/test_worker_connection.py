"""HTTP/1.1 on a caller's socket: reading one request after the other, and sending responses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gevent.socket
import pytest

from engine.exchange.caller_connection import CallerConnection, InvalidFraming
from engine.server.http1.request import HeadReader, Limits
from engine.server.sockets.caller_socket import CallerSocket
from engine.server.worker_connection import WorkerConnection, read_head

CHUNKED = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


def post(length: int, *headers: bytes) -> bytes:
    lines = b"".join(headers)
    return b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n%b\r\n" % (length, lines)


class Caller:
    """A caller, and the gateway's side of its connection."""

    def __init__(self) -> None:
        near, self.far = gevent.socket.socketpair()
        self.sock = CallerSocket(near)

    def sends(self, data: bytes, close: bool = False) -> WorkerConnection:
        """The connection under the request that the caller sends."""
        self.far.sendall(data)
        return self.request(close)

    def request(self, close: bool = False) -> WorkerConnection:
        head = read_head(self.sock, HeadReader(Limits()))
        assert head is not None
        return WorkerConnection(self.sock, head, close)

    def received(self) -> bytes:
        """All that was sent to the caller."""
        self.sock.sock.shutdown(1)
        data = b""
        while piece := self.far.recv(1_000_000):
            data += piece
        return data

    def close(self) -> None:
        self.far.close()
        self.sock.sock.close()


@pytest.fixture
def caller() -> Iterator[Caller]:
    new_caller = Caller()
    yield new_caller
    new_caller.close()


def test_a_caller_who_closes_sends_no_request(caller: Caller) -> None:
    caller.far.sendall(b"GET / HT")
    caller.far.shutdown(1)
    assert read_head(caller.sock, HeadReader(Limits())) is None


def test_requests_follow_each_other(caller: Caller) -> None:
    first = caller.sends(post(4) + b"abcd" + CHUNKED + b"1\r\nx\r\n0\r\n\r\n" + post(1) + b"z")
    assert first.read(99) == b"abcd"
    second = caller.request()
    assert second.read(99) == b"x"
    assert caller.request().read(99) == b"z"


def test_a_body_is_read_in_parts(caller: Caller) -> None:
    connection: CallerConnection = caller.sends(post(5) + b"abcdefg")
    assert [connection.read(2), connection.read(2), connection.read(2)] == [b"ab", b"cd", b"e"]


def test_a_chunked_body_is_read_in_parts(caller: Caller) -> None:
    connection = caller.sends(CHUNKED + b"5\r\nabcde\r\n2\r\nfg\r\n0\r\n\r\n")
    assert [connection.read(3), connection.read(3), connection.read(3)] == [b"abc", b"def", b"g"]
    assert connection.read(3) == b""


def test_a_body_with_a_length_that_breaks_off_is_returned_short(caller: Caller) -> None:
    connection = caller.sends(post(5) + b"ab")
    caller.far.shutdown(1)
    assert connection.read(99) == b"ab"


def test_a_chunked_body_that_breaks_off_is_a_caller_who_left(caller: Caller) -> None:
    connection = caller.sends(CHUNKED + b"5\r\nab")
    caller.far.shutdown(1)
    with pytest.raises(ConnectionResetError):
        connection.read(99)


def test_a_body_that_is_badly_framed_is_refused(caller: Caller) -> None:
    with pytest.raises(InvalidFraming):
        caller.sends(CHUNKED + b"zz\r\n").read(99)


def test_a_body_is_waited_for_no_longer_than_the_timeout(caller: Caller) -> None:
    connection = caller.sends(post(5) + b"ab")
    connection.set_timeout(0.01)
    with pytest.raises(TimeoutError):
        connection.read(99)


def test_a_body_that_came_with_its_head_is_taken_at_once(caller: Caller) -> None:
    connection = caller.sends(post(2) + b"abGET")
    assert (connection.buffered_body(), caller.sock.buffered) == (b"ab", b"GET")
    assert connection.drain()


@pytest.mark.parametrize("data", [post(2) + b"a", CHUNKED + b"0\r\n\r\n"])
def test_a_body_of_which_more_is_to_come_is_left_to_be_read(caller: Caller, data: bytes) -> None:
    connection = caller.sends(data)
    buffered = caller.sock.buffered
    assert (connection.buffered_body(), caller.sock.buffered) == (None, buffered)


def test_100_continue_is_sent_once_and_when_the_body_is_read(caller: Caller) -> None:
    connection = caller.sends(post(4, b"Expect: 100-continue\r\n") + b"abcd")
    assert connection.buffered_body() is None
    assert connection.read(2) + connection.read(9) == b"abcd"
    assert caller.received() == CONTINUE


def test_100_continue_is_never_sent_for_an_unread_body(caller: Caller) -> None:
    connection = caller.sends(post(4, b"Expect: 100-continue\r\n"))
    connection.start_response("401 Unauthorized", [("content-length", "0")])
    connection.end_response()
    assert not connection.drain()
    assert caller.received().startswith(b"HTTP/1.1 401 ")


@pytest.mark.parametrize(
    ("request_", "drained"),
    [
        (post(0), True),
        (post(3) + b"abc", True),
        (post(70_000) + bytes(70_000), False),
        (CHUNKED + b"0\r\n\r\n", False),
        (post(3, b"Connection: close\r\n") + b"abc", False),
    ],
    ids=["no body", "a short body", "a long body", "a chunked body", "close"],
)
def test_the_rest_of_a_short_body_is_read_for_the_next_request(
    caller: Caller, request_: bytes, drained: bool
) -> None:
    connection = caller.sends(request_)
    connection.start_response("200 OK", [("content-length", "0")])
    connection.end_response()
    assert connection.drain() == drained
    assert caller.sock.buffered == b"" or not drained


def test_a_caller_who_leaves_in_a_body_that_nobody_reads_has_no_other_request(
    caller: Caller,
) -> None:
    connection = caller.sends(post(3) + b"a")
    caller.far.shutdown(1)
    assert not connection.drain()


@pytest.mark.parametrize("by", ["the server", "the application"])
def test_a_connection_is_closed_after_the_response(caller: Caller, by: str) -> None:
    connection = caller.sends(post(0), close=by == "the server")
    if by == "the application":
        assert connection.close_after()
    connection.start_response("200 OK", [("content-length", "0")])
    connection.end_response()
    assert not connection.drain()
    assert b"\r\nConnection: close\r\n" in caller.received()


def test_the_head_of_a_response_is_sent_once(caller: Caller) -> None:
    connection = caller.sends(post(0))
    write = connection.start_response("200 OK", [])
    assert not connection.head_sent
    write(b"a")
    assert connection.head_sent
    with pytest.raises(ZeroDivisionError):
        connection.start_response("500 No", [], (None, ZeroDivisionError(), None))


class Room:
    """A gevent socket with `room` for so many bytes; more are accepted only with a timeout."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.data = b""

    def send(self, data: bytes, flags: int = 0, timeout: Any = None) -> int:
        size = len(data) if timeout is None else min(self.room, len(data))
        self.room -= size
        self.data += data[:size]
        return size


def streaming(caller: Caller, room: int) -> tuple[WorkerConnection, Room]:
    connection = caller.sends(post(0))
    connection.start_response("200 OK", [])
    connection.send(b"first")
    taking = Room(room)
    caller.sock.sock.close()
    caller.sock.sock = taking  # the rest of the response goes there
    return connection, taking


@pytest.fixture
def streamed() -> Iterator[Caller]:
    new_caller = Caller()
    yield new_caller
    new_caller.far.close()


def test_a_piece_that_is_sent_without_waiting_is_a_chunk(streamed: Caller) -> None:
    connection, taking = streaming(streamed, 100)
    assert connection.try_send is not None
    assert connection.try_send(b"a" * 16)
    assert taking.data == b"10\r\n" + b"a" * 16 + b"\r\n"


@pytest.mark.parametrize("after", [b"", b"d"])
@pytest.mark.parametrize("room", range(7))
def test_bytes_unsent_by_try_send_are_sent_first(streamed: Caller, room: int, after: bytes) -> None:
    connection, taking = streaming(streamed, room)
    assert connection.try_send is not None
    assert not connection.try_send(b"abc")
    assert len(taking.data) == room
    connection.send(after)
    connection.end_response()
    more = b"1\r\nd\r\n" if after else b""
    assert taking.data == b"3\r\nabc\r\n" + more + b"0\r\n\r\n"


def test_without_chunks_nothing_is_sent_without_waiting(caller: Caller) -> None:
    connection = caller.sends(b"GET / HTTP/1.0\r\n\r\n")
    connection.start_response("200 OK", [])
    assert connection.try_send is None


def test_bytes_after_the_request_are_handed_over_with_the_socket(caller: Caller) -> None:
    connection = caller.sends(post(0) + b"early")
    assert connection.can_take_over
    assert connection.take_over() == (caller.sock.sock, b"early")
    assert connection.fileno() == caller.sock.sock.fileno()


def test_a_request_of_a_socket_has_no_internal_caller(caller: Caller) -> None:
    connection: CallerConnection = caller.sends(post(0, b"Internal: alice\r\n"))
    assert connection.internal is None
