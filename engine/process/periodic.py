"""Periodic background tasks: a function called at intervals in its own greenlet."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable

import gevent
from gevent.event import Event

log = logging.getLogger("modelway")


class PeriodicTask:
    """Calls `work(wait)` in a greenlet, at once and then at intervals. `wait` is the last interval
    in seconds (first `interval`); `work` returns the next one. An exception is logged, and the task
    goes on with the same interval.

    `run_on_stop`: call `work` a last time after `stop`.
    """

    def __init__(
        self, work: Callable[[float], float], interval: float, *, run_on_stop: bool = False
    ) -> None:
        self._work = work
        self._interval = interval
        self._run_on_stop = run_on_stop
        self._stopping = Event()
        self._greenlet: gevent.Greenlet[[], None] | None = None

    def start(self) -> None:
        """Start the greenlet. Call this in the worker, after the fork."""
        self._greenlet = gevent.spawn(self._run)

    def stop(self, timeout: float) -> None:
        """Start no more calls. A running one is killed after `timeout` seconds."""
        self._stopping.set()
        if self._greenlet is not None:
            self._greenlet.join(timeout)
            self._greenlet.kill()

    def _run(self) -> None:
        wait, stopped = self._interval, False
        while not stopped:
            try:
                wait = self._work(wait)
            except Exception:
                log.exception("a periodic task failed; it runs again in %g s", wait)
            # Jitter: workers that started together must not call a server at the same moment.
            stopped = self._stopping.wait(wait * random.uniform(0.8, 1.2))  # noqa: S311
        if self._run_on_stop:
            try:
                self._work(wait)
            except Exception:
                log.exception("the last run of a periodic task failed")
