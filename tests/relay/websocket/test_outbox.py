"""The outbox of data that the socket does not accept at once: order, bound and end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gevent
import pytest

from engine.relay.websocket.outbox import FULL, Outbox
from tests.support.session import PATIENCE, pair

LARGE = b"x" * 200_000


@pytest.fixture
def ends() -> Iterator[tuple[Any, Any]]:
    """The gateway's socket, which holds little that was not read, and the other end."""
    near, far = pair(small=True)
    near.settimeout(0.0)
    yield near, far
    near.close()
    far.close()


def received(sock: Any, size: int) -> bytes:
    data = b""
    while len(data) < size:
        data += sock.recv(size - len(data))
    return data


def received_at_once(sock: Any) -> bytes:
    """All bytes to the end of the connection. BlockingIOError if that has not come yet."""
    sock.settimeout(0.0)
    data = b""
    while piece := sock.recv(65_536):
        data += piece
    return data


def test_what_the_socket_does_not_accept_is_sent_in_order(ends: tuple[Any, Any]) -> None:
    outbox = Outbox(ends[0])
    for number in range(20):
        outbox.put(bytes([number]) * 20_000)
    assert outbox.backlog > 0
    for number in range(20):
        assert received(ends[1], 20_000) == bytes([number]) * 20_000
    outbox.flush()
    assert outbox.backlog == 0
    outbox.put(b"later")
    assert received(ends[1], 5) == b"later"


def test_only_the_latest_waiting_pong_is_sent_between_two_pieces(ends: tuple[Any, Any]) -> None:
    outbox = Outbox(ends[0])
    outbox.put(LARGE)
    outbox.put(b"after")
    outbox.put_pong(b"pong 1")
    outbox.put_pong(b"pong 2")
    assert received(ends[1], len(LARGE) + 11) == LARGE + b"pong 2after"


def test_a_waiting_pong_can_be_dropped(ends: tuple[Any, Any]) -> None:
    outbox = Outbox(ends[0])
    outbox.put(LARGE)
    outbox.put_pong(b"pong")
    outbox.drop_pong()
    outbox.put(b"after")
    assert received(ends[1], len(LARGE) + 5) == LARGE + b"after"


def test_a_wait_for_room_ends_when_half_of_the_bound_is_left_or_it_is_woken(
    ends: tuple[Any, Any],
) -> None:
    outbox = Outbox(ends[0])
    outbox.put(b"x" * 2 * FULL)
    assert outbox.full
    assert not outbox.room(0.01)
    woken = gevent.spawn(outbox.room, PATIENCE)
    gevent.sleep(0)
    outbox.wake()
    assert woken.get(timeout=PATIENCE)
    waiting = gevent.spawn(outbox.room, PATIENCE)
    received(ends[1], 2 * FULL)
    assert waiting.get(timeout=PATIENCE)
    assert not outbox.full


def test_a_socket_that_fails_breaks_it(ends: tuple[Any, Any]) -> None:
    outbox = Outbox(ends[0])
    outbox.put(LARGE)
    ends[1].close()
    outbox.flush()
    assert (outbox.broken, outbox.backlog) == (True, 0)
    outbox.put(b"nothing is sent any more")
    assert outbox.backlog == 0


def test_after_a_drop_the_socket_closes_at_once(ends: tuple[Any, Any]) -> None:
    outbox = Outbox(ends[0])
    outbox.put(LARGE)
    outbox.drop()
    ends[0].close()
    assert 0 < len(received_at_once(ends[1])) < len(LARGE)
