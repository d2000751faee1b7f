"""The four timeouts of one request, as the length of its next wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from engine.upstream.client.connection import Wait
from engine.upstream.client.failures import (
    ConnectTimeout,
    FirstByteTimeout,
    IdleTimeout,
    TotalTimeout,
    UpstreamFailure,
)


class Timeouts(NamedTuple):
    """In seconds. `connect`: name, TCP, proxy and TLS together. `first_byte`: from the request
    sent, or from the upstream ceasing to take it, to the final answer's first byte. `idle`:
    between two reads. `total`: from `send` to the last byte."""

    connect: float = 3
    first_byte: float = 60
    idle: float = 60
    total: float = 600


class Deadlines:
    """How long one request may still wait; `total` shortens that timeout."""

    def __init__(
        self, timeouts: Timeouts, clock: Callable[[], float], total: float | None = None
    ) -> None:
        self.timeouts = timeouts
        self.now = clock
        self._idle = timeouts.idle
        longest = timeouts.total
        self._end = clock() + (longest if total is None or total > longest else total)

    def until(self, moment: float, failure: type[UpstreamFailure]) -> Wait:
        """What is left of the time until `moment`, or of the total if that ends first."""
        return self._at_most(moment - self.now(), failure)

    def connect(self) -> Wait:
        return self._at_most(self.timeouts.connect, ConnectTimeout)

    def first_byte(self) -> Wait:
        return self._at_most(self.timeouts.first_byte, FirstByteTimeout)

    def idle(self) -> Wait:
        if self._end - self.now() > self._idle > 0:  # written out: it is asked for every event
            return self._idle, IdleTimeout
        return self._at_most(self._idle, IdleTimeout)

    def _at_most(self, seconds: float, failure: type[UpstreamFailure]) -> Wait:
        left = self._end - self.now()
        if left < seconds:
            seconds, failure = left, TotalTimeout
        if seconds <= 0:
            raise failure
        return seconds, failure
