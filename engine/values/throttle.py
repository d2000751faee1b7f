"""Saying what goes on and on at most once a minute, with how often it happened."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

log = logging.getLogger("modelway")


class LogThrottle:
    """One complaint, logged when it first comes up and then at most every `every` seconds."""

    def __init__(self, every: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._every = every
        self._clock = clock
        self._next = -1e300
        self._count = 0

    def say(self, message: str, *values: object) -> None:
        """Log a warning, or count it for the next one."""
        self._count += 1
        if (now := self._clock()) < self._next:
            return
        self._next = now + self._every
        times = f" ({self._count} times since this was last said)" if self._count > 1 else ""
        self._count = 0
        log.warning(message + times, *values)
