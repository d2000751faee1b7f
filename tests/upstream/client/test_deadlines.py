"""The time limits of a request by a test's clock, and their timer in a real event loop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gevent
import gevent.event
import gevent.socket
import pytest

from engine.upstream.client.deadlines import Deadlines, DeadlineTimer, Timeouts
from engine.upstream.client.failures import (
    ConnectTimeout,
    FirstByteTimeout,
    IdleTimeout,
    Silence,
    TotalTimeout,
)
from tests.support.clock import Clock
from tests.support.waiting import PATIENCE

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


def test_a_wait_ends_when_bytes_arrive(pair: tuple[Any, Any]) -> None:
    near, far = pair
    timer = DeadlineTimer()
    far.send(b"x")
    timer.wait(arrival(near), 5.0)
    assert near.recv(9) == b"x"
    timer.close()


def test_a_wait_ends_after_its_time_limit(pair: tuple[Any, Any]) -> None:
    timer, start = DeadlineTimer(), time.monotonic()
    with pytest.raises(TimeoutError), gevent.Timeout(20):
        timer.wait(arrival(pair[0]), SHORT)
    assert time.monotonic() - start >= SHORT


def late(far: Any) -> None:
    """Send bytes, and hold the event loop until the time limit of a wait is over: then its timer
    and its bytes are due in one turn."""
    far.send(b"x")
    end = time.monotonic() + 2 * SHORT
    while time.monotonic() < end:
        pass


def test_bytes_that_came_before_the_time_limit_end_the_wait_of_a_loop_that_was_held_up(
    pair: tuple[Any, Any],
) -> None:
    near, far = pair
    timer = DeadlineTimer()
    gevent.spawn(late, far)
    timer.wait(arrival(near), SHORT)
    assert near.recv(9) == b"x"
    timer.close()


def test_bytes_that_came_before_the_time_limit_end_the_watch_of_a_loop_that_was_held_up(
    pair: tuple[Any, Any],
) -> None:
    near, far = pair
    timer, since = DeadlineTimer(), time.monotonic()

    def remaining() -> float:
        return since + SHORT - time.monotonic()

    def arrived() -> None:
        near.recv(9)
        timer.resume()

    gevent.spawn(late, far)
    timer.watch(arrival(near), remaining, arrived)
    timer.close()


def test_a_later_wait_has_its_full_time_limit(pair: tuple[Any, Any]) -> None:
    """The timer of the first wait fires during the second, which has time left."""
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


def test_a_shorter_time_limit_after_a_longer_one_holds(pair: tuple[Any, Any]) -> None:
    near, far = pair
    timer = DeadlineTimer()
    far.send(b"x")
    timer.wait(arrival(near), 60.0)
    near.recv(1)
    with pytest.raises(TimeoutError), gevent.Timeout(20):
        timer.wait(arrival(near), SHORT)


def test_the_timer_raises_nothing_after_the_wait(pair: tuple[Any, Any]) -> None:
    near, far = pair
    timer = DeadlineTimer()
    far.send(b"x")
    timer.wait(arrival(near), SHORT)
    gevent.sleep(SHORT * 2)
    assert timer.remaining() == 0.0


def test_closing_removes_the_timer_from_the_event_loop() -> None:
    def watchers() -> tuple[int, int]:
        """How many a timer adds to the loop, and how many are left when it is closed."""
        loop, timer = gevent.get_hub().loop, DeadlineTimer()
        near, far = gevent.socket.socketpair()
        with near, far:
            before = loop.activecnt
            far.send(b"x")
            timer.wait(arrival(near), 60.0)
            during = loop.activecnt
            timer.close()
            timer.close()
            return during - before, loop.activecnt - before

    with ThreadPoolExecutor() as pool:  # a thread has a loop of its own, without others' timers
        assert pool.submit(watchers).result() == (1, 0)


def test_cancelling_raises_the_error_in_the_greenlet_that_waits(pair: tuple[Any, Any]) -> None:
    timer = DeadlineTimer()
    greenlet = gevent.spawn(timer.wait, arrival(pair[0]), 5.0)
    gevent.sleep(0)
    timer.cancel(OSError("closed"))
    with pytest.raises(OSError, match="closed"):
        greenlet.get(timeout=PATIENCE)


def test_cancelling_does_not_reach_a_greenlet_whose_wait_has_ended(pair: tuple[Any, Any]) -> None:
    near, far = pair
    timer = DeadlineTimer()
    timer.cancel(OSError("nobody waits"))
    watched, cancelled = gevent.event.Event(), gevent.event.Event()

    def wait() -> str:
        timer.watch(arrival(near), lambda: 20.0, timer.resume)
        watched.set()
        cancelled.wait(20)
        return "unharmed"

    far.send(b"x")
    greenlet = gevent.spawn(wait)
    assert watched.wait(20)
    timer.cancel(OSError("too late"))
    cancelled.set()
    assert greenlet.get(timeout=PATIENCE) == "unharmed"


# Watching: the event loop handles what arrives.


def remaining(seconds: float) -> Callable[[], float]:
    """The seconds left of so many from now. Raises IdleTimeout when none are."""
    end = time.monotonic() + seconds

    def remaining() -> float:
        if time.monotonic() >= end:
            raise IdleTimeout
        return end - time.monotonic()

    return remaining


def watch(timer: DeadlineTimer, near: Any, arrived: Any, seconds: float = 5.0) -> Any:
    greenlet = gevent.spawn(timer.watch, arrival(near), remaining(seconds), arrived)
    gevent.sleep(0)
    return greenlet


def test_a_watch_does_not_wake_its_greenlet_for_each_arrival(pair: tuple[Any, Any]) -> None:
    near, far = pair
    timer = DeadlineTimer()
    received: list[bytes] = []
    where: list[Any] = []

    def arrived() -> None:
        where.append(gevent.getcurrent())
        received.append(near.recv(1))
        if received[-1] == b".":
            timer.resume()

    greenlet = watch(timer, near, arrived)
    for byte in (b"a", b"b", b"."):
        assert not greenlet.ready()
        far.sendall(byte)
        gevent.sleep(SHORT)
    greenlet.get(timeout=PATIENCE)
    assert received == [b"a", b"b", b"."]
    assert set(where) == {gevent.get_hub()}


def test_a_watch_raises_the_error_with_which_it_is_ended(pair: tuple[Any, Any]) -> None:
    near, far = pair
    timer = DeadlineTimer()
    greenlet = watch(timer, near, lambda: timer.resume(LookupError()))
    far.sendall(b"x")
    with pytest.raises(LookupError):
        greenlet.get(timeout=PATIENCE)


def test_a_watch_ends_after_its_time_limit(pair: tuple[Any, Any]) -> None:
    greenlet = watch(DeadlineTimer(), pair[0], lambda: None, SHORT)
    with pytest.raises(IdleTimeout):
        greenlet.get(timeout=PATIENCE)


def test_a_watch_asks_for_the_time_that_is_left_when_its_time_is_over(
    pair: tuple[Any, Any],
) -> None:
    left = [SHORT, SHORT, SHORT]

    def remaining() -> float:
        if not left:
            raise IdleTimeout
        return left.pop()

    start = time.monotonic()
    with pytest.raises(IdleTimeout):
        DeadlineTimer().watch(arrival(pair[0]), remaining, lambda: None)
    assert time.monotonic() - start >= SHORT * 3


def test_cancelling_a_watch_raises_the_error(pair: tuple[Any, Any]) -> None:
    timer = DeadlineTimer()
    greenlet = watch(timer, pair[0], lambda: None)
    timer.cancel(OSError("closed"))
    with pytest.raises(OSError, match="closed"):
        greenlet.get(timeout=PATIENCE)


def test_after_the_watch_nothing_is_called(pair: tuple[Any, Any]) -> None:
    near, far = pair
    called: list[int] = []
    watcher = arrival(near)

    def arrived() -> bool:
        called.append(1)
        return True

    greenlet = gevent.spawn(DeadlineTimer().watch, watcher, lambda: 5.0, arrived)
    gevent.sleep(0)
    greenlet.kill()
    far.sendall(b"x")
    gevent.sleep(SHORT)
    assert not called
    assert not watcher.active


# Which timeout ends a wait.

TIMEOUTS = Timeouts(connect=3.0, first_byte=20.0, idle=10.0, total=60.0)


def test_each_wait_has_its_own_timeout() -> None:
    clock = Clock(1000.0)
    deadlines = Deadlines(TIMEOUTS, clock)
    assert deadlines.connect() == (3.0, ConnectTimeout)
    assert deadlines.first_byte() == (20.0, FirstByteTimeout)
    assert deadlines.idle() == (10.0, IdleTimeout)
    assert deadlines.until(1007.0, FirstByteTimeout) == (7.0, FirstByteTimeout)


def test_no_wait_lasts_longer_than_the_total_timeout() -> None:
    clock = Clock(1000.0)
    deadlines = Deadlines(TIMEOUTS, clock)
    clock.advance(58.0)
    for wait in (deadlines.connect, deadlines.first_byte, deadlines.idle):
        assert wait() == (2.0, TotalTimeout)
    clock.advance(2.0)
    for wait in (deadlines.connect, deadlines.first_byte, deadlines.idle):
        with pytest.raises(TotalTimeout):
            wait()


def test_a_beat_is_a_shorter_wait_between_two_reads() -> None:
    deadlines = Deadlines(TIMEOUTS, Clock(1000.0))
    assert deadlines.idle(4.0) == (4.0, Silence)
    assert deadlines.idle(10.0) == (10.0, IdleTimeout)


def test_a_wait_between_two_reads_is_counted_from_its_beginning() -> None:
    clock = Clock(1000.0)
    deadlines = Deadlines(TIMEOUTS, clock)
    clock.advance(4.0)
    assert deadlines.idle_since(1000.0) == 6.0
    assert deadlines.idle_since(1003.0) == 9.0
    clock.advance(6.0)
    with pytest.raises(IdleTimeout):
        deadlines.idle_since(1000.0)
    clock.advance(45.0)
    assert deadlines.idle_since(1054.0) == 5.0  # what is left of the total timeout
    clock.advance(5.0)
    with pytest.raises(TotalTimeout):
        deadlines.idle_since(1059.0)


def test_a_deadline_that_has_passed_is_a_failure() -> None:
    clock = Clock(1000.0)
    deadlines = Deadlines(TIMEOUTS, clock)
    with pytest.raises(FirstByteTimeout):
        deadlines.until(1000.0, FirstByteTimeout)


@pytest.mark.parametrize(("total", "seconds"), [(None, 60.0), (100.0, 60.0), (5.0, 5.0)])
def test_a_request_may_only_shorten_the_total_timeout(total: float | None, seconds: float) -> None:
    deadlines = Deadlines(Timeouts(1e9, 1e9, 1e9, 60.0), Clock(), total)
    assert deadlines.idle() == (seconds, TotalTimeout)
