"""How long the calls of a worker wait for a Redis server.

Only time in which this worker's event loop turned is counted: a worker that gets no CPU has not
waited for the server, however late it wakes up. The server is *silent* when calls wait and none was
answered for `away_after` seconds; while it answers others, a call waits for up to `timeout`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import gevent

_TICKS = 10
"""Turns of the event loop in which a silent server may answer, at least."""


class Late(BaseException):
    """Raised in the greenlet of a call whose answer is late; `is_silent`: so are all others."""

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
        """The present greenlet begins a call."""
        if not self._calls:
            self._quiet_since = self._time
        if self._timer is None:
            self._ticked_at = self._clock()
            self._timer = gevent.get_hub().loop.timer(self._tick, self._tick)
            self._timer.start(self.tick)
        self._calls[gevent.getcurrent()] = self._time

    def stop(self) -> None:
        """The call of the present greenlet ended, or is late."""
        self._calls.pop(gevent.getcurrent(), None)

    def answered(self) -> None:
        """The server answered a call."""
        self._quiet_since = self._time

    def tick(self) -> None:
        """Called in the hub, once in `away_after / 10` seconds while calls wait."""
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
        """Stop counting, until the next call."""
        if self._timer is not None:
            self._timer.close()
            self._timer = None
