"""The timeouts of a worker's calls to a Redis server.

Only time in which this worker's event loop runs is counted, so that a worker without CPU time does
not blame the server. The server is *silent* if calls wait and none was answered for `away_after`
seconds; while it answers other calls, a call waits for up to `timeout`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import gevent

_TICKS = 10
"""The number of ticks in `away_after`: the event loop runs so often before a server is silent."""


class Late(BaseException):
    """Raised in the greenlet of a call whose answer is late; `is_silent`: no call is answered."""

    def __init__(self, seconds: float, is_silent: bool) -> None:
        super().__init__(f"no answer within {seconds:g} s")
        self.is_silent = is_silent


class CallDeadlines:
    """The calls to one server that wait for an answer, each in a greenlet of its own."""

    def __init__(
        self, timeout: float, away_after: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._timeout, self._silence, self._clock = timeout, min(timeout, away_after), clock
        self._tick = self._silence / _TICKS
        self._time = self._ticked_at = self._quiet_since = 0.0
        self._calls: dict[Any, float] = {}  # when each began, on the clock `_time`
        self._timer: Any = None

    def start(self) -> None:
        """Begin a call of the current greenlet."""
        if not self._calls:
            self._quiet_since = self._time
        if self._timer is None:
            self._ticked_at = self._clock()
            self._timer = gevent.get_hub().loop.timer(self._tick, self._tick)
            self._timer.start(self.tick)
        self._calls[gevent.getcurrent()] = self._time

    def stop(self) -> None:
        """End the call of the current greenlet."""
        self._calls.pop(gevent.getcurrent(), None)

    def answered(self) -> None:
        """Record that the server answered a call."""
        self._quiet_since = self._time

    def tick(self) -> None:
        """Called by the hub every `away_after / 10` seconds while calls wait."""
        now = self._clock()
        self._time += min(now - self._ticked_at, self._tick)
        self._ticked_at = now
        if not self._calls:
            self.close()
        elif self._time - self._quiet_since >= self._silence:
            self._end(list(self._calls), self._silence, is_silent=True)
        else:
            late = [g for g, begin in self._calls.items() if self._time - begin >= self._timeout]
            self._end(late, self._timeout, is_silent=False)

    def _end(self, greenlets: list[Any], seconds: float, *, is_silent: bool) -> None:
        for greenlet in greenlets:
            if self._calls.pop(greenlet, None) is not None:  # the one before it may have ended it
                greenlet.throw(Late(seconds, is_silent))

    def close(self) -> None:
        """Stop the timer until the next call."""
        if self._timer is not None:
            self._timer.close()
            self._timer = None
