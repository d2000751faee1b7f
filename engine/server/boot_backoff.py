"""How long a master waits before it starts a worker in place of one that failed."""

from __future__ import annotations

from collections.abc import Callable

LONGEST_PAUSE = 30.0
"""Seconds at most."""


class BootBackoff:
    """2 s after the first failure, then twice as long each time, until a worker has lasted for
    LONGEST_PAUSE. `clock` gives seconds of a monotonic clock."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.reset()

    def reset(self) -> None:
        """Forget the failures: the next worker may start at once."""
        self._failures, self._next = 0, 0.0

    @property
    def is_over(self) -> bool:
        """Whether a worker may be started."""
        return self._clock() >= self._next

    def fail(self) -> float:
        """A worker failed. Returns the seconds until the next one may start."""
        now = self._clock()
        if now > self._next + LONGEST_PAUSE:
            self._failures = 0
        self._failures += 1
        pause = min(2.0 ** min(self._failures, 10), LONGEST_PAUSE)
        self._next = now + pause
        return pause
