"""One bound of requests in flight, and the requests of this worker that wait for a slot.

A slot that this worker frees is given to the next request at once. Slots that other workers free
are found within POLL_SECONDS, by a greenlet that polls while a request waits here.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

import gevent
from gevent.event import Event

from engine.values.admission import AdmissionQueue, Figures

POLL_SECONDS = 0.01
_MAX_RETRY_AFTER = 60.0
_SMOOTHING = 0.1


class Wait(StrEnum):
    """How a wait for a slot ended."""

    ADMITTED = "admitted"
    FULL = "full"
    """The queue had no room."""
    SHED = "shed"
    """A request of higher priority displaced it from the queue."""
    TIMEOUT = "timeout"


class GateConfig(NamedTuple):
    """At most `bound` requests in flight; at most `size` wait, each at most `wait` seconds."""

    bound: int
    size: int = 0
    wait: float = 0.0


class _Waiter:
    """A request that waits until a time of the gate's clock; `result` is None while it waits."""

    __slots__ = ("event", "result", "until")

    def __init__(self, until: float) -> None:
        self.until = until
        self.event = Event()
        self.result: Wait | None = None

    def end(self, result: Wait) -> None:
        self.result = result
        self.event.set()


class Gate:
    """A bound in one worker: of an `upstream`, or of one of its targets if `target`, its label in
    metrics, is not "".

    `queue` is shared by the workers of the machine. `results` counts waits by their result,
    `waited` is their sum in seconds. Times are those of `clock`, which is monotonic.
    """

    def __init__(
        self,
        upstream: str,
        target: str,
        config: GateConfig,
        queue: AdmissionQueue,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.upstream, self.target, self.config = upstream, target, config
        self.results: dict[str, int] = dict.fromkeys(Wait, 0)
        self.waited = 0.0
        self._queue, self._clock = queue, clock
        self._waiters: dict[int, _Waiter] = {}
        self._polling = False
        self._mean_hold = 0.0

    @property
    def bound(self) -> int:
        """The largest number of requests in flight."""
        return self.config.bound

    def try_enter(self, rank: int) -> bool:
        """Take a slot, if one is free and no waiting request comes first."""
        return self._queue.enter(rank, self.config.bound)

    def wait(self, rank: int, timeout: float) -> Wait:
        """Wait for a slot, at most `timeout` seconds and the configured time. An exception during
        the wait gives back the slot and the ticket."""
        start = self._clock()
        result = self._wait(rank, start, start + min(timeout, self.config.wait))
        self.results[result] += 1
        self.waited += self._clock() - start
        return result

    def _wait(self, rank: int, start: float, until: float) -> Wait:
        size = self.config.size if until > start else 0
        ticket = self._queue.join(rank, size, until) if size else None
        if ticket is None:
            return Wait.FULL
        waiter = self._waiters[ticket] = _Waiter(until)
        try:
            self._serve()  # a slot may have become free since the last attempt to take one
            if waiter.result is None:
                self._poll()
                waiter.event.wait(until - start)
        except BaseException:
            if waiter.result is Wait.ADMITTED:
                self.cancel()
            raise
        finally:
            del self._waiters[ticket]
            if waiter.result is None:
                self._queue.leave(ticket)
        return waiter.result or Wait.TIMEOUT

    def release(self, seconds: float) -> None:
        """Give back a slot that was held for so many seconds."""
        self._mean_hold += _SMOOTHING * (seconds - self._mean_hold)
        self.cancel()

    def cancel(self) -> None:
        """Give back a slot that was not used."""
        self._queue.release()
        self._serve()

    def retry_after(self) -> float:
        """Seconds until a slot is likely to be free, from 1 to 60: an estimate from the length of
        the queue and the mean time that a slot is held."""
        turns = (self._queue.figures().waiting + 1) / self.config.bound
        return min(max(1.0, math.ceil(turns * self._mean_hold)), _MAX_RETRY_AFTER)

    def figures(self) -> Figures:
        """The requests in flight and waiting, of all workers of the machine."""
        return self._queue.figures()

    def _serve(self) -> None:
        """Wake the requests whose turn it is, and those whose tickets ended."""
        waiting = [ticket for ticket, waiter in self._waiters.items() if waiter.result is None]
        if not waiting:
            return
        served = self._queue.serve(waiting, self.config.bound)
        for ticket in served.admitted:
            self._waiters[ticket].end(Wait.ADMITTED)
        for ticket in served.ended:
            waiter = self._waiters[ticket]
            waiter.end(Wait.SHED if self._clock() < waiter.until else Wait.TIMEOUT)

    def _poll(self) -> None:
        """Poll for slots that other workers free, until no request waits here."""
        if not self._polling:
            self._polling = True
            gevent.spawn(self._poll_others)

    def _poll_others(self) -> None:
        try:
            while self._waiters:
                gevent.sleep(POLL_SECONDS)
                self._serve()
        finally:
            self._polling = False
