"""A token bucket: a limit of events a minute."""

from __future__ import annotations


class TokenBucket:
    """`per_minute` events at once, and then as many a minute. `now` is in seconds."""

    def __init__(self, per_minute: int, now: float) -> None:
        self._size = self._level = float(per_minute)
        self._as_of = now

    def take(self, now: float) -> bool:
        """Count an event. False for one too many."""
        self._level = min(self._size, self._level + (now - self._as_of) * self._size / 60)
        self._as_of = now
        if self._level < 1:
            return False
        self._level -= 1
        return True
