"""One connection, over scripted sockets and real ones."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator
from functools import partial
from itertools import count
from typing import Any

import gevent
import gevent.socket
import pytest

from engine.upstream.client.connection import Connection
from engine.upstream.client.deadlines import Deadlines, Timeouts
from engine.upstream.client.failures import (
    FirstByteTimeout,
    IdleTimeout,
    ProtocolFailure,
    Reset,
    TotalTimeout,
    Truncated,
)
from engine.upstream.client.http1 import ResponseParser
from tests.support.peer import OK
from tests.support.waiting import PATIENCE

SHORT, LONG = 0.05, 20.0


class ListSocket:
    """Accepts so many bytes at each `send`, and returns or raises the next item at each `recv`.

    Its descriptor is that of a real socket, readable from the start if `early`.
    """

    def __init__(
        self, accepted_sizes: list[Any], received: list[Any], *, early: bool = False
    ) -> None:
        self._near, self._far = gevent.socket.socketpair()
        if early:
            self._far.send(b"x")
        self._accepted_sizes, self._received = accepted_sizes, received
        self.data_sent = b""

    def send(self, data: memoryview | bytes) -> int:
        step = self._accepted_sizes.pop(0)
        if isinstance(step, Exception):
            raise step
        self.data_sent += bytes(data[:step])
        return int(min(step, len(data)))

    def sendall(self, data: memoryview | bytes) -> None:
        raise AssertionError("sendall would wait without our timeout")

    def recv(self, size: int) -> bytes:
        step = self._received.pop(0)
        if isinstance(step, Exception):
            raise step
        return bytes(step)

    def settimeout(self, seconds: float | None) -> None:
        pass

    def fileno(self) -> int:
        return self._near.fileno()

    def close(self) -> None:
        self._near.close()
        self._far.close()


def send(sock: ListSocket, *pieces: bytes) -> tuple[bool, ResponseParser, Connection]:
    parser = ResponseParser("GET")
    connection = Connection(sock, 0.0)
    try:
        complete = connection.send(pieces, parser, lambda: (LONG, FirstByteTimeout))
    finally:
        sock.close()
    return complete, parser, connection


def test_sending_continues_where_the_socket_stopped() -> None:
    sock = ListSocket([1, BlockingIOError(), 2, 0, 100, 100], [])
    complete, _, connection = send(sock, b"abcdef", b"", b"gh")
    assert complete
    assert sock.data_sent == b"abcdefgh"
    assert connection.bytes_sent == 8


def test_an_error_of_the_socket_ends_the_sending() -> None:
    complete, parser, connection = send(ListSocket([2, ConnectionResetError()], []), b"abc")
    assert not complete
    assert not parser.started
    assert connection.bytes_sent == 2


def test_an_early_response_ends_the_sending() -> None:
    sock = ListSocket([1], [OK], early=True)
    complete, parser, _ = send(sock, b"abc")
    assert not complete
    assert parser.is_complete
    assert sock.data_sent == b"a"


def test_the_first_byte_is_sent_without_a_check_for_a_response() -> None:
    """The pool has just checked, and a request in one packet cannot be stopped anyway."""
    assert send(ListSocket([3], [], early=True), b"abc")[0]


@pytest.mark.parametrize("data", [BlockingIOError(), b"HTTP/1.1 100 C\r\n\r\n", b"HTTP/1."])
def test_an_incomplete_or_interim_head_does_not_end_the_sending(data: Any) -> None:
    sock = ListSocket([1, 2], [data], early=True)
    assert send(sock, b"abc")[0]
    assert sock.data_sent == b"abc"


@pytest.mark.parametrize("end", [b"", ConnectionResetError()])
def test_an_end_while_sending(end: Any) -> None:
    with pytest.raises(Reset):
        send(ListSocket([1], [end], early=True), b"abc")


def test_a_socket_that_accepts_nothing() -> None:
    near, far = gevent.socket.socketpair()
    try:
        with pytest.raises(FirstByteTimeout):
            Connection(near, 0.0).send(
                [bytes(8_000_000)], ResponseParser("GET"), lambda: (SHORT, FirstByteTimeout)
            )
    finally:
        near.close()
        far.close()


def test_receiving_bytes_an_end_and_a_reset() -> None:
    connection = Connection(ListSocket([], [OK[:-1], b"", ConnectionResetError()], early=True), 0.0)
    parser = ResponseParser("GET")
    wait = (LONG, IdleTimeout)
    connection.receive(parser, wait)
    assert parser.take() == b"o"
    for _ in range(2):
        with pytest.raises(Truncated):
            connection.receive(parser, wait)
    connection.close()


def test_receiving_ends_after_its_time_limit() -> None:
    near, far = gevent.socket.socketpair()
    with pytest.raises(IdleTimeout):
        Connection(near, 0.0).receive(ResponseParser("GET"), (SHORT, IdleTimeout))
    near.close()
    far.close()


def test_closing_wakes_a_greenlet_that_receives() -> None:
    near, far = gevent.socket.socketpair()
    connection = Connection(near, 0.0)
    reader = gevent.spawn(connection.receive, ResponseParser("GET"), (5.0, IdleTimeout))
    gevent.sleep(0)
    connection.close()
    connection.close()
    with pytest.raises(Reset):
        reader.get(timeout=PATIENCE)
    far.close()


@pytest.fixture
def high_descriptors() -> Iterator[None]:
    """Open more descriptors than select() supports."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 1300:
        pytest.skip(f"only {hard} descriptors are allowed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1300), hard))
    descriptors = [os.open(os.devnull, os.O_RDONLY)]
    while descriptors[-1] < 1100:
        descriptors.append(os.dup(descriptors[0]))
    yield
    for descriptor in descriptors:
        os.close(descriptor)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("high_descriptors")
def test_descriptors_beyond_1023() -> None:
    near, far = gevent.socket.socketpair()
    connection = Connection(near, 0.0)
    assert near.fileno() > 1023
    assert not connection.readable()
    far.sendall(OK)
    assert connection.readable()
    parser = ResponseParser("GET")
    assert not connection.send([b"a", b"b"], parser, lambda: (LONG, FirstByteTimeout))
    assert parser.take() == b"ok"
    far.close()
    assert connection.readable()
    connection.close()


# A stream: what arrives within a body is parts on from the event loop.

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def streamed(
    received: list[Any], on_data: Any = None, total: float = 60.0
) -> tuple[list[bytes], ResponseParser]:
    """What was parts on of an answer whose bytes come one of `received` after another."""
    sock, parser, parts = ListSocket([], received, early=True), ResponseParser("GET"), list[bytes]()
    parser.feed(HEAD)
    connection = Connection(sock, 0.0)
    try:
        connection.stream(
            parser, Deadlines(Timeouts(idle=LONG), time.monotonic, total), on_data or parts.append
        )
    finally:
        connection.close()
    return parts, parser


def test_parts_of_a_body_are_passed_to_the_function() -> None:
    parts, parser = streamed([b"1\r\na\r\n", b"2\r\n", b"bc\r\n", b"1\r\nd\r\n0\r\n\r\n"])
    assert parts == [b"a", b"bc"]
    assert (parser.is_complete, parser.take()) == (True, b"d")


def test_an_incomplete_tls_record_is_awaited() -> None:
    parts, _ = streamed([b"1\r\na\r\n", BlockingIOError(), b"1\r\nb\r\n", b"0\r\n\r\n"])
    assert parts == [b"a", b"b"]


@pytest.mark.parametrize("end", [b"", ConnectionResetError()])
def test_a_stream_that_ends_early_is_truncated(end: Any) -> None:
    parts: list[bytes] = []
    with pytest.raises(Truncated):
        streamed([b"1\r\na\r\n", end], on_data=parts.append)
    assert parts == [b"a"]


def test_a_stream_that_is_not_http_is_refused() -> None:
    with pytest.raises(ProtocolFailure):
        streamed([b"1\r\na\r\n", b"what?\r\n"])


def test_an_error_of_the_function_is_raised() -> None:
    def on_data(data: bytes) -> None:
        raise LookupError(data)

    with pytest.raises(LookupError, match="a"):
        streamed([b"1\r\na\r\n"], on_data=on_data)


def test_the_idle_timeout_begins_again_with_each_part() -> None:
    class RecordedGateway(Deadlines):
        def idle_since(self, moment: float) -> float:
            if moment > start:
                raise IdleTimeout
            return SHORT

    clock, sock = count(100.0), gevent.socket.socketpair()
    deadlines = RecordedGateway(Timeouts(), partial(next, clock))
    start = next(clock) + 1
    sock[1].sendall(b"1\r\na\r\n")
    parser, parts = ResponseParser("GET"), list[bytes]()
    parser.feed(HEAD)
    connection = Connection(sock[0], 0.0)
    with gevent.Timeout(20), pytest.raises(IdleTimeout):
        connection.stream(parser, deadlines, parts.append)
    assert parts == [b"a"]
    connection.close()
    sock[1].close()


@pytest.mark.parametrize(
    ("timeouts", "expected"),
    [(Timeouts(idle=SHORT), IdleTimeout), (Timeouts(total=SHORT), TotalTimeout)],
)
def test_a_silent_stream_ends_with_its_first_time_limit(
    timeouts: Timeouts, expected: type[Exception]
) -> None:
    sock = gevent.socket.socketpair()
    parser = ResponseParser("GET")
    parser.feed(HEAD)
    connection = Connection(sock[0], 0.0)
    with gevent.Timeout(20), pytest.raises(expected):
        connection.stream(parser, Deadlines(timeouts, time.monotonic), lambda data: None)
    connection.close()
    sock[1].close()


def test_a_time_limit_in_the_past_ends_a_stream() -> None:
    with pytest.raises(TotalTimeout):
        streamed([b"1\r\na\r\n"], total=0.0)
