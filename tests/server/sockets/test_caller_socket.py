"""The socket of a caller."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gevent
import gevent.socket
import pytest

from engine.server.sockets.caller_socket import CallerSocket, end_input, linger
from tests.support.waiting import PATIENCE


@pytest.fixture
def pair() -> Iterator[tuple[Any, Any]]:
    near, far = gevent.socket.socketpair()
    yield near, far
    near.close()
    far.close()


def test_what_is_buffered_is_received_first(pair: tuple[Any, Any]) -> None:
    near, far = pair
    far.sendall(b"cd")
    sock = CallerSocket(near)
    sock.buffered = b"ab"
    assert [sock.receive(), sock.receive(), sock.buffered] == [b"ab", b"cd", b""]
    far.close()
    assert sock.receive() == b""


def test_try_send_sends_what_fits(pair: tuple[Any, Any]) -> None:
    near, far = pair
    sock = CallerSocket(near)
    assert sock.can_try
    assert sock.try_send(b"abc") == 3
    assert 0 < sock.try_send(bytes(50_000_000)) < 50_000_000
    assert sock.try_send(b"abc") == 0
    far.close()
    assert sock.try_send(b"abc") == 0
    with pytest.raises(OSError, match=r"pipe|reset"):
        sock.send(b"abc")


def test_send_waits_until_all_is_sent(pair: tuple[Any, Any]) -> None:
    near, far = pair
    size = 5_000_000

    def read() -> int:
        received = 0
        while received < size:
            received += len(far.recv(1_000_000))
        return received

    reader = gevent.spawn(read)
    CallerSocket(near).send(bytes(size))
    assert reader.get(timeout=PATIENCE) == size


def test_send_waits_no_longer_than_the_timeout(pair: tuple[Any, Any]) -> None:
    sock = CallerSocket(pair[0])
    sock.timeout = 0.01
    with pytest.raises(TimeoutError):
        sock.send(bytes(50_000_000))


def test_receive_waits_no_longer_than_the_timeout_of_now(pair: tuple[Any, Any]) -> None:
    near, far = pair
    sock = CallerSocket(near)
    sock.timeout = 0.01
    with pytest.raises(TimeoutError):
        sock.receive()
    sock.timeout = None
    gevent.spawn_later(0.02, far.sendall, b"a")
    assert sock.receive() == b"a"


def test_a_socket_whose_input_is_ended_is_read_to_its_end(pair: tuple[Any, Any]) -> None:
    near, far = pair
    far.sendall(b"a")
    reader = gevent.spawn(lambda: [near.recv(9), near.recv(9)])
    gevent.sleep(0.01)  # it waits for more
    end_input(near)
    assert reader.get(timeout=PATIENCE) == [b"a", b""]
    near.sendall(b"b")
    assert far.recv(9) == b"b"


def test_a_socket_that_lingers_reads_to_the_callers_end(pair: tuple[Any, Any]) -> None:
    near, far = pair
    far.sendall(b"the rest")
    lingering = gevent.spawn(linger, near, 1_000)
    assert far.recv(9) == b""
    assert not lingering.ready()
    far.close()
    lingering.get(timeout=PATIENCE)


def test_a_socket_that_lingers_leaves_what_is_more_than_it_should_read(
    pair: tuple[Any, Any],
) -> None:
    near, far = pair
    far.sendall(b"x" * 100_000)
    linger(near, 1)
    assert near.recv(1) == b"x"
