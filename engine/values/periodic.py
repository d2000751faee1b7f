"""Runs a function again and again in a greenlet beside the requests."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from typing import Any

import gevent
from gevent.event import Event

log = logging.getLogger("modelway")


class PeriodicTask:
    """Calls `work` in a greenlet. It takes the seconds of the wait before it (at first `interval`),
    and returns those of the next wait. An exception is logged, and the waits go on.

    `once_more`: call it a last time after `stop`.
    """

    def __init__(
        self, work: Callable[[float], float], interval: float, *, once_more: bool = False
    ) -> None:
        self._work = work
        self._interval = interval
        self._once_more = once_more
        self._stopping = Event()
        self._greenlet: Any = None

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
            # Jitter: workers that started together do not call the same server together.
            stopped = self._stopping.wait(wait * random.uniform(0.8, 1.2))  # noqa: S311
        if self._once_more:
            self._work(wait)
