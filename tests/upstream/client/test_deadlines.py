"""Waits with a time limit, on real sockets and a real event loop."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import gevent
import gevent.socket
import pytest

from engine.upstream.client.deadlines import DeadlineTimer

SHORT = 0.03


def arrival(sock: Any) -> Any:
    """A watcher of the event loop for bytes that arrive."""
    return gevent.get_hub().loop.io(sock.fileno(), 1)


@pytest.fixture
def pair() -> Iterator[tuple[Any, Any]]:
    near, far = gevent.socket.socketpair()
    yield near, far
    near.close()
    far.close()


def test_a_wait_ends_when_something_comes(pair: tuple[Any, Any]) -> None:
    near, far = pair
    timer = DeadlineTimer()
    far.send(b"x")
    timer.wait(arrival(near), 5.0)
    assert near.recv(9) == b"x"
    timer.close()


def test_a_wait_ends_after_its_time(pair: tuple[Any, Any]) -> None:
    timer, begun = DeadlineTimer(), time.monotonic()
    with pytest.raises(TimeoutError):
        timer.wait(arrival(pair[0]), SHORT)
    assert SHORT <= time.monotonic() - begun < 1.0


def test_a_later_wait_has_a_time_of_its_own(pair: tuple[Any, Any]) -> None:
    """The timer of the first wait rings during the second, which is not over then."""
    near, far = pair
    timer = DeadlineTimer()
    far.send(b"x")
    timer.wait(arrival(near), SHORT)
    near.recv(1)
    gevent.spawn_later(SHORT * 2, far.send, b"y")
    timer.wait(arrival(near), 5.0)
    assert near.recv(1) == b"y"
    with pytest.raises(TimeoutError):
        timer.wait(arrival(near), SHORT)


def test_a_shorter_wait_after_a_longer_one_is_short(pair: tuple[Any, Any]) -> None:
    near, far = pair
    timer = DeadlineTimer()
    far.send(b"x")
    timer.wait(arrival(near), 60.0)
    near.recv(1)
    begun = time.monotonic()
    with pytest.raises(TimeoutError):
        timer.wait(arrival(near), SHORT)
    assert time.monotonic() - begun < 1.0


def test_it_rings_for_nobody_when_nobody_waits(pair: tuple[Any, Any]) -> None:
    near, far = pair
    timer = DeadlineTimer()
    far.send(b"x")
    timer.wait(arrival(near), SHORT)
    gevent.sleep(SHORT * 2)  # nothing is thrown at who has gone on
    assert timer.remaining() == 0.0


def test_closing_leaves_no_timer_in_the_event_loop(pair: tuple[Any, Any]) -> None:
    near, far = pair
    loop, timer = gevent.get_hub().loop, DeadlineTimer()
    before = loop.activecnt
    far.send(b"x")
    timer.wait(arrival(near), 60.0)
    assert loop.activecnt == before + 1
    timer.close()
    timer.close()
    assert loop.activecnt == before


def test_cancelling_raises_the_error_in_the_greenlet_that_waits(pair: tuple[Any, Any]) -> None:
    timer = DeadlineTimer()
    greenlet = gevent.spawn(timer.wait, arrival(pair[0]), 5.0)
    gevent.sleep(0)
    timer.cancel(OSError("closed"))
    with pytest.raises(OSError, match="closed"):
        greenlet.get(timeout=5)


def test_cancelling_does_not_reach_a_greenlet_whose_wait_has_ended(pair: tuple[Any, Any]) -> None:
    near, far = pair
    timer = DeadlineTimer()
    timer.cancel(OSError("nobody waits"))

    def wait() -> str:
        timer.watch(arrival(near), 5.0, lambda: False)
        gevent.sleep(SHORT)
        return "unharmed"

    far.send(b"x")
    greenlet = gevent.spawn(wait)
    gevent.sleep(SHORT / 3)
    timer.cancel(OSError("too late"))
    assert greenlet.get(timeout=5) == "unharmed"


# Watching: what arrives is taken care of by the event loop.


def watch(timer: DeadlineTimer, near: Any, arrived: Any, seconds: float = 5.0) -> Any:
    greenlet = gevent.spawn(timer.watch, arrival(near), seconds, arrived)
    gevent.sleep(0)
    return greenlet


def test_nobody_is_woken_for_what_arrives(pair: tuple[Any, Any]) -> None:
    near, far = pair
    got: list[bytes] = []
    where: list[Any] = []

    def arrived() -> bool:
        where.append(gevent.getcurrent())
        got.append(near.recv(1))
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
    timer, begun = DeadlineTimer(), time.monotonic()

    def arrived() -> bool:
        near.recv(1)
        timer.extend(SHORT * 3)
        return True

    greenlet = watch(timer, near, arrived, SHORT)
    far.sendall(b"x")
    with pytest.raises(TimeoutError):
        greenlet.get(timeout=5)
    assert time.monotonic() - begun >= SHORT * 3


def test_cancelling_a_watch_raises_the_error(pair: tuple[Any, Any]) -> None:
    timer = DeadlineTimer()
    greenlet = watch(timer, pair[0], lambda: True)
    timer.cancel(OSError("closed"))
    with pytest.raises(OSError, match="closed"):
        greenlet.get(timeout=5)


def test_after_the_watch_nothing_is_called(pair: tuple[Any, Any]) -> None:
    near, far = pair
    called: list[int] = []
    watcher = arrival(near)

    def arrived() -> bool:
        called.append(1)
        return True

    greenlet = gevent.spawn(DeadlineTimer().watch, watcher, 5.0, arrived)
    gevent.sleep(0)
    greenlet.kill()
    far.sendall(b"x")
    gevent.sleep(SHORT)
    assert not called
    assert not watcher.active
