"""Clocks that only a test advances."""

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


class MicrosecondClock:
    """The clock of counters: call it for Unix microseconds."""

    def __init__(self, now: int = 1_700_000_000 * 1_000_000) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now

    def advance(self, seconds: float) -> None:
        """Move the time on."""
        self.now += round(seconds * 1_000_000)
