"""A token bucket: a limit of events in time."""

from __future__ import annotations


class TokenBucket:
    """`burst` events at once, and then `rate` a second. `now` is in seconds."""

    __slots__ = ("_as_of", "_burst", "_level", "_rate")

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self._rate = rate
        self._burst = self._level = burst
        self._as_of = now

    def take(self, now: float) -> float:
        """Count an event. Returns 0 or, for one too many, the seconds until the next may come."""
        self._level = min(self._burst, self._level + (now - self._as_of) * self._rate)
        self._as_of = now
        if self._level < 1:
            return (1 - self._level) / self._rate
        self._level -= 1
        return 0.0
