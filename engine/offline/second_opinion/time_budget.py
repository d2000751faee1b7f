"""The CPU time that openapi-core may take: on some documents one value costs it minutes."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from engine.offline.second_opinion.verdict import NotComparable

SECONDS = 10.0
"""Of CPU time, for all examples of a config, or for one request."""

_AGAIN = 0.1
"""Seconds after which a block that went on is interrupted again."""


class TimeExceeded(NotComparable):
    """The time is used up."""


class TimeBudget:
    """Seconds of CPU time that several blocks may take together."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.process_time) -> None:
        self._seconds = seconds
        self._clock = clock
        self._end = clock() + seconds

    @contextmanager
    def bounded(self) -> Iterator[None]:
        """Raise TimeExceeded in a block when the time is used up, and at its end if it went on.
        Blocks in other threads than the main one are only bounded before they begin."""
        if (seconds := self._end - self._clock()) <= 0:
            raise self._exceeded()
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        exceeded = False

        def interrupt(number: int, frame: FrameType | None) -> None:
            nonlocal exceeded
            exceeded = True
            raise self._exceeded()

        begin, handler = self._clock(), signal.signal(signal.SIGPROF, interrupt)
        timer = signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN)
        try:
            yield
        finally:
            _restore(handler, timer, self._clock() - begin)
        if exceeded:
            raise self._exceeded()

    def _exceeded(self) -> TimeExceeded:
        return TimeExceeded(f"openapi-core took more than {self._seconds:g} s of CPU")


def _restore(handler: object, timer: tuple[float, float], elapsed: float) -> None:
    """Set the handler and the timer that were set before."""
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, handler)  # type: ignore[arg-type]
    delay, interval = timer
    if delay:
        signal.setitimer(signal.ITIMER_PROF, max(delay - elapsed, 0.001), interval)
