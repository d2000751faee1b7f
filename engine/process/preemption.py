"""Lets the event loop go on while a greenlet computes: a signal interrupts it after every few
milliseconds of processor time, and the others run before it goes on.

That holds between `begin` and `end` only, where a greenlet computes something of its own: elsewhere
others must not see what it has changed by half. What interrupts nothing is a single call of a
library in C, such as a parser.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import gevent

from engine.process.loop_turn import await_turn

INTERVAL = 0.005
"""Seconds of processor time for which a greenlet computes without a pause."""

Stuck = Callable[[FrameType | None], None]


class Preemption:
    """The greenlets of a process that may be interrupted.

    `stuck` is called with the stack of one that has computed for `limit` seconds of processor time;
    a limit of 0 is none.
    """

    def __init__(self) -> None:
        self._computing: dict[Any, float] = {}  # seconds of processor time for each greenlet
        self._resumed = 0.0
        self._paused = set[Any]()
        self._limit = 0.0
        self._stuck: Stuck | None = None

    def enable(self, limit: float, stuck: Stuck) -> None:
        """Interrupt greenlets from now on. Called in the main thread."""
        self._limit, self._stuck = limit, stuck
        signal.signal(signal.SIGPROF, self._interrupt)
        signal.siginterrupt(signal.SIGPROF, False)

    def begin(self) -> None:
        """The current greenlet may be interrupted."""
        if self._stuck is None:
            return
        if not self._computing:
            signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)
        self._resumed = time.thread_time()  # before a signal finds the greenlet
        self._computing[gevent.getcurrent()] = 0.0

    def end(self) -> None:
        """It must not be interrupted any more. Idempotent."""
        if not self._computing:
            return
        if self._computing.pop(gevent.getcurrent(), None) is not None and not self._computing:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        greenlet = gevent.getcurrent()
        seconds = self._computing.get(greenlet)
        if seconds is None or greenlet in self._paused:  # a signal came again before the pause
            return
        seconds += time.thread_time() - self._resumed
        self._computing[greenlet] = seconds
        if self._limit and seconds >= self._limit and self._stuck is not None:
            self.end()
            self._stuck(frame)
            return
        self._paused.add(greenlet)
        try:
            await_turn()
        finally:
            self._paused.discard(greenlet)
            self._resumed = time.thread_time()


PREEMPTION = Preemption()
"""That of this process."""
