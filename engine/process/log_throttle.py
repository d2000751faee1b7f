"""Logging a repeated event at most once a minute, with its count."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

log = logging.getLogger("modelway")


class LogThrottle:
    """One message, logged the first time and then at most once in `interval` seconds."""

    def __init__(
        self,
        interval: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
        level: int = logging.WARNING,
    ) -> None:
        self._level = level
        self._interval = interval
        self._clock = clock
        self._next = -1e300
        self._count = 0

    def log(self, message: str, *values: object) -> None:
        """Log a message, or count it for the next one."""
        self._count += 1
        if (now := self._clock()) < self._next:
            return
        self._next = now + self._interval
        times = f" ({self._count} times since the last message)" if self._count > 1 else ""
        self._count = 0
        log.log(self._level, message + times, *values)
