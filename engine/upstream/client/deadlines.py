"""The time limits of a request: which timeout ends the next wait, and the timer for it.

gevent makes and destroys a timer for each wait, although hardly any fires. Here one timer serves
all waits of a connection: it fires at the earliest deadline, and is set again if that has moved.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any, NamedTuple

from gevent import get_hub, getcurrent

from engine.upstream.client.failures import (
    ConnectTimeout,
    FirstByteTimeout,
    IdleTimeout,
    Silence,
    TotalTimeout,
    UpstreamFailure,
)

Wait = tuple[float, type[UpstreamFailure] | type[Silence]]
"""The time limit of the next wait in seconds, and the exception to raise after it."""


class Timeouts(NamedTuple):
    """In seconds. `connect`: name lookup, TCP, proxy and TLS together. `first_byte`: from the end
    of sending, or from when the upstream stops accepting the request, to the first byte of the
    final response. `idle`: between two reads. `total`: from `send` to the last byte."""

    connect: float = 3
    first_byte: float = 60
    idle: float = 60
    total: float = 600


class Deadlines:
    """The time limits of one request; `total` replaces the total timeout if it is shorter."""

    def __init__(
        self, timeouts: Timeouts, clock: Callable[[], float], total: float | None = None
    ) -> None:
        self.timeouts = timeouts
        self.now = clock
        longest = timeouts.total
        self._end = clock() + (longest if total is None or total > longest else total)

    def until(self, moment: float, failure: type[UpstreamFailure]) -> Wait:
        """The time left until `moment`, or of the total timeout if that ends first."""
        if self._end < moment:
            moment, failure = self._end, TotalTimeout
        seconds = moment - self.now()
        if seconds <= 0:
            raise failure
        return seconds, failure

    def connect(self) -> Wait:
        return self._at_most(self.timeouts.connect, ConnectTimeout)

    def first_byte(self) -> Wait:
        return self._at_most(self.timeouts.first_byte, FirstByteTimeout)

    def idle(self, beat: float | None = None) -> Wait:
        """The idle timeout, or Silence after `beat` seconds if that is shorter."""
        wait = self._at_most(self.timeouts.idle, IdleTimeout)
        return wait if beat is None or wait[0] <= beat else (beat, Silence)

    def idle_since(self, moment: float) -> float:
        """The seconds left of a wait between two reads that began at `moment`. Raises IdleTimeout
        or TotalTimeout when none are left."""
        return self.until(moment + self.timeouts.idle, IdleTimeout)[0]

    def _at_most(self, seconds: float, failure: type[UpstreamFailure]) -> Wait:
        remaining = self._end - self.now()
        if remaining < seconds:
            seconds, failure = remaining, TotalTimeout
        if seconds <= 0:
            raise failure
        return seconds, failure


class DeadlineTimer:
    """A timer for consecutive waits of one greenlet at a time. `close` stops it."""

    __slots__ = ("_deadline", "_fires_at", "_remaining", "_timer", "_waiting")

    def __init__(self) -> None:
        self._timer: Any = None
        self._fires_at = 0.0  # if there is a timer
        self._deadline = 0.0  # of the current wait
        self._waiting: Any = None
        self._remaining: Callable[[], float] | None = None  # of a `watch`

    def wait(self, watcher: Any, seconds: float) -> None:
        """Wait until an I/O watcher of the event loop is ready. TimeoutError after `seconds`."""
        self.extend(seconds)
        self._waiting = getcurrent()
        try:
            get_hub().wait(watcher)
        finally:
            self._waiting = None

    def watch(
        self, watcher: Any, remaining: Callable[[], float], arrived: Callable[[], None]
    ) -> None:
        """Wait while the event loop calls `arrived` each time a watcher is ready; it may neither
        block nor raise, and calls `resume` to end the wait.

        `remaining` gives the seconds that the wait may still last, and is asked again when they are
        over. Raises what it raises. This greenlet is not switched to for each call."""
        self.extend(remaining())
        self._remaining = remaining
        self._waiting = getcurrent()
        try:
            watcher.start(arrived)
            get_hub().switch()
        finally:
            watcher.stop()
            self._waiting = self._remaining = None

    def resume(self, error: BaseException | None = None) -> None:
        """End a `watch`, in a call of the event loop. Its greenlet goes on, or gets the error."""
        if error is None:
            self._waiting.switch()
        else:
            self._waiting.throw(error)

    def extend(self, seconds: float) -> None:
        """Let the current wait last `seconds` from now."""
        self._deadline = deadline = monotonic() + seconds
        if self._timer is None or deadline < self._fires_at:
            self._set(seconds)

    def remaining(self) -> float:
        """Seconds until the deadline of the latest wait; at least 0."""
        return max(0.0, self._deadline - monotonic())

    def close(self) -> None:
        """Stop the timer."""
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.stop()
            timer.close()

    def _set(self, seconds: float) -> None:
        self.close()
        self._fires_at = monotonic() + seconds
        # Like gevent's own timeouts: after a turn that was long, sockets are read before it fires.
        self._timer = get_hub().loop.timer(seconds, priority=-1)
        self._timer.start(self._fire)

    def cancel(self, error: BaseException) -> None:
        """Raise an error in the greenlet that waits, in the next turn of the event loop."""
        if self._waiting is not None:
            get_hub().loop.run_callback(self._cancel, self._waiting, error)

    def _cancel(self, waiting: Any, error: BaseException) -> None:
        if self._waiting is waiting:  # else its wait has ended meanwhile
            waiting.throw(error)

    def _fire(self) -> None:
        """Called by the hub when the timer fires."""
        self.close()
        if self._waiting is None:
            return
        try:
            seconds = self.remaining() if self._remaining is None else self._remaining()
        except (UpstreamFailure, Silence) as error:
            self._waiting.throw(error)
            return
        if seconds > 0:
            self._set(seconds)
        else:
            self._waiting.throw(TimeoutError)
