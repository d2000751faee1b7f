"""A circuit breaker: a target that keeps failing gets no requests for a while.

The law:

    closed     requests pass; `failures` failures within `window` seconds open it
    open       nothing passes; after `cooldown` seconds it is half-open
    half-open  one request passes as a probe; its success closes the breaker, its failure opens it

Pure: each call gets the time. `retry` decides which results count as failures; a request that the
upstream rejects as invalid never does.
"""

from __future__ import annotations

from bisect import bisect_right

from engine.config.upstreams import BreakerConfig


class CircuitBreaker:
    """The state of one target in one worker. Times are in seconds of a monotonic clock. `config`
    has `failures`, `window` and `cooldown`.

    `opened_at`: when it opened, None while it is closed. `is_used`: it has recorded a success or a
    failure. Metrics leave out the others, because a config may have thousands of targets that are
    never used.
    """

    __slots__ = ("_config", "_failures", "_probe_at", "is_used", "opened_at")

    def __init__(self, config: BreakerConfig) -> None:
        self._config = config
        self._failures: list[float] | None = None  # of thousands of targets most have none
        self.opened_at: float | None = None
        self._probe_at: float | None = None
        self.is_used = False

    def allows(self, now: float) -> bool:
        """Whether a request may pass. In a half-open breaker it becomes the probe.

        A probe without a result, because its caller disconnected, is replaced after a cooldown.
        """
        if self.opened_at is None:
            return True
        cooldown = self._config.cooldown
        if now < self.opened_at + cooldown:
            return False
        if self._probe_at is not None and now < self._probe_at + cooldown:
            return False
        self._probe_at = now
        return True

    def succeeded(self) -> None:
        """Record a success."""
        self.is_used = True
        if self.opened_at is not None:
            self.opened_at = self._probe_at = None

    def failed(self, now: float) -> None:
        """Record a failure that counts."""
        self.is_used = True
        if self.opened_at is not None:
            if self._probe_at is not None:
                self.opened_at, self._probe_at = now, None
            return
        failures, config = self._failures or [], self._config
        del failures[: bisect_right(failures, now - config.window)]
        failures.append(now)
        self._failures = failures
        if len(failures) >= config.failures:
            self.opened_at, self._failures = now, None

    def state(self, now: float) -> int:
        """0 closed, 1 half-open, 2 open."""
        if self.opened_at is None:
            return 0
        return 1 if now >= self.opened_at + self._config.cooldown else 2

    def wait(self, now: float) -> float:
        """Seconds until it may let a request pass; 0 while it is closed or half-open."""
        if self.opened_at is None:
            return 0.0
        return max(0.0, self.opened_at + self._config.cooldown - now)
