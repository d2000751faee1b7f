"""The backoff of a master between a failed worker and its replacement."""

from __future__ import annotations

from collections.abc import Callable

MAX_PAUSE = 30.0
"""The longest pause, in seconds."""


class BootBackoff:
    """2 s after the first failure, then twice as long each time, at most MAX_PAUSE. It starts
    again at 2 s once no worker has failed for MAX_PAUSE. `clock` gives monotonic seconds."""

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
        if now > self._next + MAX_PAUSE:
            self._failures = 0
        self._failures += 1
        pause = min(2.0 ** min(self._failures, 10), MAX_PAUSE)
        self._next = now + pause
        return pause
