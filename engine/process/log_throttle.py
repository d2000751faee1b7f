"""Logging a repeated event at most once a minute, with its count."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

log = logging.getLogger("modelway")
_INTERVAL = 60.0


class LogThrottle:
    """One message, logged the first time and then at most once a minute."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        level: int = logging.WARNING,
    ) -> None:
        self._level = level
        self._clock = clock
        self._next = -1e300
        self._count = 0

    def log(self, message: str, *values: object) -> None:
        """Log a message, or count it for the next one."""
        self._count += 1
        if (now := self._clock()) < self._next:
            return
        self._next = now + _INTERVAL
        times = f" ({self._count} times since the last message)" if self._count > 1 else ""
        self._count = 0
        log.log(self._level, message + times, *values)
