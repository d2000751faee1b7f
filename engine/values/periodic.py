"""Work done beside the requests, over and over, until it is ended."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from typing import Any

import gevent
from gevent.event import Event

log = logging.getLogger("modelway")


class Background:
    """Does `work` in a greenlet of its own. It gets the seconds that were waited before it (at
    first `interval`), and returns those to wait before the next time. Where it fails, that is
    logged and it is done again.

    `once_more`: also when it has been told to end.
    """

    def __init__(
        self, work: Callable[[float], float], interval: float, *, once_more: bool = False
    ) -> None:
        self._work = work
        self._interval = interval
        self._once_more = once_more
        self._ending = Event()
        self._greenlet: Any = None

    def start(self) -> None:
        """Work from now on; in the worker, after the fork."""
        self._greenlet = gevent.spawn(self._run)

    def end(self, patience: float) -> None:
        """Begin no more work; what is under way has so many seconds, and is then cut short."""
        self._ending.set()
        if self._greenlet is not None:
            self._greenlet.join(patience)
            self._greenlet.kill()

    def _run(self) -> None:
        wait, ended = self._interval, False
        while not ended:
            try:
                wait = self._work(wait)
            except Exception:
                log.exception("work in the background failed; it goes on in %g s", wait)
            # Workers that started together need not ask the same server together.
            ended = self._ending.wait(wait * random.uniform(0.8, 1.2))  # noqa: S311
        if self._once_more:
            self._work(wait)
