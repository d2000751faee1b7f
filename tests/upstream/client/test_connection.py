"""One connection: sockets that do as a list says, and real ones."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator
from typing import Any

import gevent
import gevent.socket
import pytest

from engine.upstream.client.connection import Connection
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

SHORT = 0.05


class ListSocket:
    """Takes so many bytes at each send, and gives or raises what is next at each recv.

    Its descriptor is that of a real socket, readable from the start if `early`.
    """

    def __init__(self, takes: list[Any], gives: list[Any], *, early: bool = False) -> None:
        self._near, self._far = gevent.socket.socketpair()
        if early:
            self._far.send(b"x")
        self._takes, self._gives = takes, gives
        self.taken = b""

    def send(self, data: memoryview | bytes) -> int:
        step = self._takes.pop(0)
        if isinstance(step, Exception):
            raise step
        self.taken += bytes(data[:step])
        return int(min(step, len(data)))

    def sendall(self, data: memoryview | bytes) -> None:
        raise AssertionError("sendall would wait without a timeout of ours")

    def recv(self, size: int) -> bytes:
        step = self._gives.pop(0)
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
        done = connection.send(pieces, parser, lambda: (SHORT, FirstByteTimeout))
    finally:
        sock.close()
    return done, parser, connection


def test_sending_goes_on_where_the_socket_stopped() -> None:
    sock = ListSocket([1, BlockingIOError(), 2, 0, 100, 100], [])
    done, _, connection = send(sock, b"abcdef", b"", b"gh")
    assert done
    assert sock.taken == b"abcdefgh"
    assert connection.bytes_sent == 8


def test_a_socket_that_breaks_ends_the_sending() -> None:
    done, parser, connection = send(ListSocket([2, ConnectionResetError()], []), b"abc")
    assert not done
    assert not parser.started
    assert connection.bytes_sent == 2


def test_an_early_answer_ends_the_sending() -> None:
    sock = ListSocket([1], [OK], early=True)
    done, parser, _ = send(sock, b"abc")
    assert not done
    assert parser.is_complete
    assert sock.taken == b"a"


def test_a_first_byte_is_sent_without_looking() -> None:
    """The pool has just looked; and a request in one packet cannot be stopped anyway."""
    assert send(ListSocket([3], [], early=True), b"abc")[0]


@pytest.mark.parametrize("heard", [BlockingIOError(), b"HTTP/1.1 100 C\r\n\r\n", b"HTTP/1."])
def test_less_than_a_final_head_does_not_end_the_sending(heard: Any) -> None:
    sock = ListSocket([1, 2], [heard], early=True)
    assert send(sock, b"abc")[0]
    assert sock.taken == b"abc"


@pytest.mark.parametrize("end", [b"", ConnectionResetError()])
def test_an_end_while_sending(end: Any) -> None:
    with pytest.raises(Reset):
        send(ListSocket([1], [end], early=True), b"abc")


def test_a_socket_that_takes_nothing() -> None:
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
    wait = (SHORT, IdleTimeout)
    connection.receive(parser, wait)
    assert parser.take() == b"o"
    for _ in range(2):
        with pytest.raises(Truncated):
            connection.receive(parser, wait)
    connection.close()


def test_receiving_takes_its_time_and_no_more() -> None:
    near, far = gevent.socket.socketpair()
    with pytest.raises(IdleTimeout):
        Connection(near, 0.0).receive(ResponseParser("GET"), (SHORT, IdleTimeout))
    near.close()
    far.close()


def test_closing_wakes_who_receives() -> None:
    near, far = gevent.socket.socketpair()
    connection = Connection(near, 0.0)
    reader = gevent.spawn(connection.receive, ResponseParser("GET"), (5.0, IdleTimeout))
    gevent.sleep(0)
    connection.close()
    connection.close()
    with pytest.raises(Reset):
        reader.get(timeout=5)
    far.close()


@pytest.fixture
def high_descriptors() -> Iterator[None]:
    """Use up the descriptors to beyond what select() can name."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 1300:
        pytest.skip(f"only {hard} descriptors are allowed here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1300), hard))
    used = [os.open(os.devnull, os.O_RDONLY)]
    while used[-1] < 1100:
        used.append(os.dup(used[0]))
    yield
    for descriptor in used:
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
    assert not connection.send([b"a", b"b"], parser, lambda: (SHORT, FirstByteTimeout))
    assert parser.take() == b"ok"
    far.close()
    assert connection.readable()
    connection.close()


# A stream: what arrives within a body is passed on from the event loop.

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def streamed(
    gives: list[Any],
    wait: Any = lambda: (SHORT, IdleTimeout),
    passing: Any = None,
) -> tuple[list[bytes], ResponseParser]:
    """What was passed on of an answer whose bytes come one of `gives` after another."""
    sock, parser, passed = ListSocket([], gives, early=True), ResponseParser("GET"), list[bytes]()
    parser.feed(HEAD)
    connection = Connection(sock, 0.0)
    try:
        connection.stream(parser, wait, passing or passed.append)
    finally:
        connection.close()
    return passed, parser


def test_what_arrives_within_a_body_is_passed_on() -> None:
    passed, parser = streamed([b"1\r\na\r\n", b"2\r\n", b"bc\r\n", b"1\r\nd\r\n0\r\n\r\n"])
    assert passed == [b"a", b"bc"]
    assert (parser.is_complete, parser.take()) == (True, b"d")


def test_a_record_that_is_not_whole_is_waited_for() -> None:
    passed, _ = streamed([b"1\r\na\r\n", BlockingIOError(), b"1\r\nb\r\n", b"0\r\n\r\n"])
    assert passed == [b"a", b"b"]


@pytest.mark.parametrize("end", [b"", ConnectionResetError()])
def test_a_stream_that_ends_early_is_cut(end: Any) -> None:
    passed: list[bytes] = []
    with pytest.raises(Truncated):
        streamed([b"1\r\na\r\n", end], passing=passed.append)
    assert passed == [b"a"]


def test_a_stream_that_is_no_http_is_refused() -> None:
    with pytest.raises(ProtocolFailure):
        streamed([b"1\r\na\r\n", b"what?\r\n"])


def test_what_passing_raises_comes_back() -> None:
    def passing(data: bytes) -> None:
        raise LookupError(data)

    with pytest.raises(LookupError, match="a"):
        streamed([b"1\r\na\r\n"], passing=passing)


def test_each_part_of_a_stream_has_a_wait_of_its_own() -> None:
    waits = [(5.0, IdleTimeout), (SHORT, TotalTimeout)]
    sock = gevent.socket.socketpair()
    sock[1].sendall(b"1\r\na\r\n")
    parser = ResponseParser("GET")
    parser.feed(HEAD)
    connection, begun = Connection(sock[0], 0.0), time.monotonic()
    with pytest.raises(TotalTimeout):
        connection.stream(parser, lambda: waits.pop(0), lambda data: None)
    assert not waits
    assert time.monotonic() - begun < 2.0
    connection.close()
    sock[1].close()


def test_a_wait_that_is_over_before_it_begins_ends_a_stream() -> None:
    waits = [(5.0, IdleTimeout)]

    def wait() -> Any:
        if waits:
            return waits.pop()
        raise TotalTimeout

    with pytest.raises(TotalTimeout):
        streamed([b"1\r\na\r\n"], wait)
