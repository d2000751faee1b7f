"""A clock for tests: it stands still until a test moves it."""

from __future__ import annotations


class Clock:
    """Call it for the time in seconds; `now` is the time, `advance` moves it, `sleep` too.

    `sleeps` lists the seconds that were slept.
    """

    def __init__(self, now: float = 0.0) -> None:
        self.now = now
        self.sleeps: list[float] = []

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        """Move the time on."""
        self.now += seconds

    def sleep(self, seconds: float) -> None:
        """Return at once, `seconds` later."""
        self.sleeps.append(seconds)
        self.now += seconds
