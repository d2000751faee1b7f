"""Garbage collection while the event loop has nothing to do, rather than within a request.

Python's cyclic collector runs when so many more objects were made than freed, whoever made the last
of them: some request waits for it. Requests leave almost no cycles, so it can wait itself. A worker
therefore collects when its loop is idle, and raises the bound of automatic collections, which
remain for a loop that is never idle: garbage is at most `MAX_NEW` objects more.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import gevent

from engine.process.periodic import PeriodicTask

MAX_NEW = 50_000
"""Objects made and not freed after which garbage is collected at once."""

_THRESHOLDS = (MAX_NEW, 10, 30)
_MIN_NEW = 1_000
"""The fewest for which the young ones are looked at: that takes 0.1 ms."""
_YOUNG, _ALL = 1, 2
_MAX_YOUNG = 10
"""Collections of young objects until all are looked at."""
_SECONDS = 1.0
_SHARE = 1_000
"""A collection of all objects takes at most this part of the time: with thousands of open streams
it is long, and so comes rarely."""
_STOP_SECONDS = 0.1


class IdleCollection:
    """Collects garbage in this process when its event loop is idle, about once a second if enough
    objects were made. `clock` gives monotonic seconds."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        wait_until_idle: Callable[[], None] = gevent.idle,
    ) -> None:
        self._clock = clock
        self._wait_until_idle = wait_until_idle
        self._task = PeriodicTask(self._work, _SECONDS)
        self._young = 0
        self._next = 0.0

    def start(self) -> None:
        """Start it, and make automatic collections rare."""
        gc.set_threshold(*_THRESHOLDS)
        self._task.start()

    def stop(self) -> None:
        """Stop it. Automatic collections stay rare: the process ends soon."""
        self._task.stop(_STOP_SECONDS)

    def _work(self, _: float) -> float:
        if gc.get_count()[0] >= _MIN_NEW:
            self._wait_until_idle()
            self.collect()
        return _SECONDS

    def collect(self) -> None:
        """Collect the young objects; all of them every now and then."""
        begin = self._clock()
        self._young += 1
        if self._young <= _MAX_YOUNG or begin < self._next:
            gc.collect(_YOUNG)
            return
        gc.collect(_ALL)
        now = self._clock()
        self._young, self._next = 0, now + _SHARE * (now - begin)
