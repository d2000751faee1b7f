"""Waiting with a limit of time, on real sockets and a real loop."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import gevent
import gevent.socket
import pytest

from engine.upstream.client.deadline_timer import DeadlineTimer

SHORT = 0.03


@pytest.fixture
def pair() -> Iterator[tuple[Any, Any]]:
    near, far = gevent.socket.socketpair()
    yield near, far
    near.close()
    far.close()


def test_a_wait_ends_when_something_comes(pair: tuple[Any, Any]) -> None:
    near, far = pair
    alarm = DeadlineTimer()
    far.send(b"x")
    alarm.wait(near._read_event, 5.0)
    assert near.recv(9) == b"x"
    alarm.close()


def test_a_wait_ends_after_its_time(pair: tuple[Any, Any]) -> None:
    alarm, begun = DeadlineTimer(), time.monotonic()
    with pytest.raises(TimeoutError):
        alarm.wait(pair[0]._read_event, SHORT)
    assert SHORT <= time.monotonic() - begun < 1.0


def test_a_later_wait_has_a_time_of_its_own(pair: tuple[Any, Any]) -> None:
    """The timer of the first wait rings during the second, which is not over then."""
    near, far = pair
    alarm = DeadlineTimer()
    far.send(b"x")
    alarm.wait(near._read_event, SHORT)
    near.recv(1)
    gevent.spawn_later(SHORT * 2, far.send, b"y")
    alarm.wait(near._read_event, 5.0)
    assert near.recv(1) == b"y"
    with pytest.raises(TimeoutError):
        alarm.wait(near._read_event, SHORT)


def test_a_shorter_wait_after_a_longer_one_is_short(pair: tuple[Any, Any]) -> None:
    near, far = pair
    alarm = DeadlineTimer()
    far.send(b"x")
    alarm.wait(near._read_event, 60.0)
    near.recv(1)
    begun = time.monotonic()
    with pytest.raises(TimeoutError):
        alarm.wait(near._read_event, SHORT)
    assert time.monotonic() - begun < 1.0


def test_it_rings_for_nobody_when_nobody_waits(pair: tuple[Any, Any]) -> None:
    near, far = pair
    alarm = DeadlineTimer()
    far.send(b"x")
    alarm.wait(near._read_event, SHORT)
    gevent.sleep(SHORT * 2)  # nothing is thrown at who has gone on
    assert alarm.left() == 0.0


def test_after_closing_nothing_rings(pair: tuple[Any, Any]) -> None:
    near, far = pair
    alarm = DeadlineTimer()
    far.send(b"x")
    alarm.wait(near._read_event, SHORT)
    alarm.close()
    alarm.close()
    assert alarm._timer is None
    gevent.sleep(SHORT * 2)


# Watching: what arrives is taken care of by the event loop.


def watch(alarm: DeadlineTimer, near: Any, arrived: Any, seconds: float = 5.0) -> Any:
    greenlet = gevent.spawn(alarm.watch, near._read_event, seconds, arrived)
    gevent.sleep(0)
    return greenlet


def test_nobody_is_woken_for_what_arrives(pair: tuple[Any, Any]) -> None:
    near, far = pair
    got: list[bytes] = []
    where: list[Any] = []

    def arrived() -> bool:
        where.append(gevent.getcurrent())
        got.append(near._sock.recv(1))
        return got[-1] != b"."

    greenlet = watch(DeadlineTimer(), near, arrived)
    for byte in (b"a", b"b", b"."):
        assert not greenlet.ready()
        far.sendall(byte)
        gevent.sleep(SHORT)
    greenlet.get(timeout=5)
    assert got == [b"a", b"b", b"."]
    assert set(where) == {gevent.get_hub()}


def test_what_is_raised_there_is_raised_here(pair: tuple[Any, Any]) -> None:
    near, far = pair

    def arrived() -> bool:
        raise LookupError

    greenlet = watch(DeadlineTimer(), near, arrived)
    far.sendall(b"x")
    with pytest.raises(LookupError):
        greenlet.get(timeout=5)


def test_who_watches_does_so_no_longer_than_the_time(pair: tuple[Any, Any]) -> None:
    greenlet = watch(DeadlineTimer(), pair[0], lambda: True, SHORT)
    with pytest.raises(TimeoutError):
        greenlet.get(timeout=5)


def test_what_arrives_may_extend_the_time(pair: tuple[Any, Any]) -> None:
    near, far = pair
    alarm, begun = DeadlineTimer(), time.monotonic()

    def arrived() -> bool:
        near._sock.recv(1)
        alarm.extend(SHORT * 3)
        return True

    greenlet = watch(alarm, near, arrived, SHORT)
    far.sendall(b"x")
    with pytest.raises(TimeoutError):
        greenlet.get(timeout=5)
    assert time.monotonic() - begun >= SHORT * 3


def test_closing_what_is_watched_wakes_with_an_error(pair: tuple[Any, Any]) -> None:
    greenlet = watch(DeadlineTimer(), pair[0], lambda: True)
    pair[0].close()
    with pytest.raises(OSError, match="closed"):
        greenlet.get(timeout=5)


def test_after_the_watch_nothing_is_called(pair: tuple[Any, Any]) -> None:
    near, far = pair
    called: list[int] = []
    greenlet = watch(DeadlineTimer(), near, lambda: bool(called.append(1)))  # type: ignore[func-returns-value]
    greenlet.kill()
    far.sendall(b"x")
    gevent.sleep(SHORT)
    assert not called
    assert not near._read_event.active
