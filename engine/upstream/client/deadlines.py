"""The four timeouts of a request, as the time limit of its next wait."""

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
    """In seconds. `connect`: name lookup, TCP, proxy and TLS together. `first_byte`: from the end
    of sending, or from when the upstream stops accepting the request, to the first byte of the
    final response. `idle`: between two reads. `total`: from `send` to the last byte."""

    connect: float = 3
    first_byte: float = 60
    idle: float = 60
    total: float = 600


class Deadlines:
    """The time limits of one request; `total` shortens that timeout."""

    def __init__(
        self, timeouts: Timeouts, clock: Callable[[], float], total: float | None = None
    ) -> None:
        self.timeouts = timeouts
        self.now = clock
        idle, longest = timeouts.idle, timeouts.total
        end = clock() + (longest if total is None or total > longest else total)
        self._end = end
        self._idle = idle, IdleTimeout
        self._idle_until = end - idle

    def until(self, moment: float, failure: type[UpstreamFailure]) -> Wait:
        """The time left until `moment`, or of the total timeout if that ends first."""
        return self._at_most(moment - self.now(), failure)

    def connect(self) -> Wait:
        return self._at_most(self.timeouts.connect, ConnectTimeout)

    def first_byte(self) -> Wait:
        return self._at_most(self.timeouts.first_byte, FirstByteTimeout)

    def idle(self) -> Wait:
        if self.now() < self._idle_until:  # called for every event
            return self._idle
        return self._at_most(*self._idle)

    def _at_most(self, seconds: float, failure: type[UpstreamFailure]) -> Wait:
        remaining = self._end - self.now()
        if remaining < seconds:
            seconds, failure = remaining, TotalTimeout
        if seconds <= 0:
            raise failure
        return seconds, failure
