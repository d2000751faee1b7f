"""A token bucket: how many events a minute are allowed, so many of them at once."""

from __future__ import annotations


class Rate:
    """`per_minute` events at once, and then as many a minute. `now` is in seconds."""

    def __init__(self, per_minute: int, now: float) -> None:
        self._most = self._left = float(per_minute)
        self._then = now

    def take(self, now: float) -> bool:
        """Count an event. False where it is one too many."""
        self._left = min(self._most, self._left + (now - self._then) * self._most / 60)
        self._then = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
