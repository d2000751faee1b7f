"""A circuit breaker: a target that keeps failing is left alone for a while.

The law:

    closed     requests pass; `failures` failures within `window` seconds open it
    open       nothing passes; after `cooldown` seconds it is half-open
    half-open  one request passes as a probe; its success closes the breaker, its failure opens it

Pure: time comes in with each call. Which outcomes count as failures is `retry`'s to say; the
caller's own mistakes never do.
"""

from __future__ import annotations

from collections import deque


class Breaker:
    """The state of one target in one worker. Times are in seconds of any steady clock."""

    __slots__ = ("_cooldown", "_failures", "_limit", "_opened", "_probing", "_window")

    def __init__(self, failures: int, window: float, cooldown: float) -> None:
        self._limit = failures
        self._window = window
        self._cooldown = cooldown
        self._failures: deque[float] = deque()
        self._opened: float | None = None
        self._probing: float | None = None

    def allows(self, now: float) -> bool:
        """Whether a request may pass; taking the probe of a half-open breaker along the way.

        A probe that never comes back, because its caller left, is replaced after a cooldown.
        """
        if self._opened is None:
            return True
        if now < self._opened + self._cooldown:
            return False
        if self._probing is not None and now < self._probing + self._cooldown:
            return False
        self._probing = now
        return True

    def succeeded(self) -> None:
        """A request came back well."""
        if self._opened is not None:
            self._opened = self._probing = None
            self._failures.clear()

    def failed(self, now: float) -> None:
        """A request failed in a way that counts."""
        if self._opened is not None:
            if self._probing is not None:
                self._opened, self._probing = now, None
            return
        self._failures.append(now)
        while self._failures and self._failures[0] <= now - self._window:
            self._failures.popleft()
        if len(self._failures) >= self._limit:
            self._opened = now
            self._failures.clear()

    def state(self, now: float) -> int:
        """0 closed, 1 half-open, 2 open."""
        if self._opened is None:
            return 0
        return 1 if now >= self._opened + self._cooldown else 2

    def wait(self, now: float) -> float:
        """Seconds until it may let a request pass; 0 while it is closed or half-open."""
        if self._opened is None:
            return 0.0
        return max(0.0, self._opened + self._cooldown - now)
