"""What a Redis server is told when there is time: corrections, slots given back, leases renewed.

The next take has corrections done before itself, or else a greenlet of each worker sends them a
moment later, many at a time: the end of a request waits for nothing, and a caller who asks one
thing after another finds what it gave back. What was not sent because the server is away is kept
and sent later, up to `KEPT`; of what was sent and never answered only slots are given back again,
which does no harm.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import gevent
from gevent.event import Event
from gevent.lock import BoundedSemaphore

from engine.stores.counters.redis_link import (
    UNHURRIED,
    Command,
    Link,
    Pending,
    Unsent,
)
from engine.stores.counters.redis_scripts import SETTLE
from engine.values.counters import CountersAway

log = logging.getLogger("modelway")

KEPT = 10_000
REST = 1.0
"""Seconds until what could not be sent is tried again."""
PAUSE = 0.002
"""Seconds for which a take may come and have it along."""
_TOGETHER = 100
_ALONG = 16
"""Corrections that one take has along: a request waits for it."""
_SAY_EVERY = 60.0


class Correction(NamedTuple):
    """Of what was taken: `by` more or less of a window of that `tick` in the bucket `at`; or, where
    `tick` is 0, the `by` slots of the lease `at` are free."""

    key: str
    tick: int
    at: int | str
    by: int


class Later:
    """A queue to a server, and the greenlet that empties it. `renewals` gives what is to be said
    every `every` seconds, `now` what scripts are told of the time."""

    def __init__(
        self,
        link: Link,
        renewals: Callable[[], Iterator[Command]],
        every: float,
        now: Callable[[], int | str],
    ) -> None:
        self._link, self._renewals, self._every, self._now = link, renewals, every, now
        self._queue: deque[Correction] = deque()
        self._wake = Event()
        self._sending = BoundedSemaphore(1)
        self._greenlet: gevent.Greenlet[[], None] | None = None
        self._say_at = 0.0

    def add(self, correction: Correction) -> None:
        """Send this when there is time."""
        if len(self._queue) >= KEPT:
            self._lost(1, f"{KEPT} wait already")
            return
        self._queue.append(correction)
        self.run()
        self._wake.set()

    def along(self) -> list[Correction]:
        """What waits, for whoever takes something now, before that; `keep` it if that fails."""
        if not self._queue or self._sending.locked():  # it must not overtake what is under way
            return []
        return self._taken(_ALONG)

    def keep(self, together: Sequence[Correction], error: BaseException) -> None:
        """Sending this failed: what of it can be sent again without harm waits once more."""
        again = together
        if not isinstance(error, Unsent):
            # Giving a slot back twice does no harm; not giving it back does.
            again = [correction for correction in together if not correction.tick]
            self._lost(len(together) - len(again), str(error) or type(error).__name__)
        self._queue.extendleft(reversed(again))

    def run(self) -> None:
        """See to it that the greenlet runs."""
        if self._greenlet is None or self._greenlet.dead:
            self._greenlet = gevent.spawn(self._loop)

    def __len__(self) -> int:
        """How many corrections wait."""
        return len(self._queue)

    def close(self) -> None:
        """Send what waits, in one try."""
        with self._sending:  # what is under way ends within the link's time limit
            if self._greenlet is not None:
                self._greenlet.kill()
        try:
            while self._queue:
                self._send()
        except CountersAway as error:
            self._lost(len(self._queue), str(error))

    def _loop(self) -> None:
        renew_at = time.monotonic() + self._every
        while True:
            if self._wake.wait(max(renew_at - time.monotonic(), 0)):
                gevent.sleep(PAUSE)
            self._wake.clear()
            try:
                if time.monotonic() >= renew_at:
                    self._renew()
                    renew_at = time.monotonic() + self._every
                while self._queue:
                    self._send()
            except CountersAway as error:
                self._wake.set()  # what is left is tried again
                log.debug("counters: %s", error)
                if isinstance(error, Unsent):
                    gevent.sleep(REST)

    def _renew(self) -> None:
        with self._sending:  # a slot that is given back meanwhile is so after its renewal
            for command in self._renewals():
                self._link.call(command, timeout=UNHURRIED)

    def _send(self) -> None:
        with self._sending:
            together = self._taken(_TOGETHER)
            keys = [correction.key for correction in together]
            args = [each for correction in together for each in correction[1:]]

            def late(answer: object) -> None:
                if answer is None:
                    self.keep(together, CountersAway("the answer never came"))

            try:
                ask = ("EVALSHA", SETTLE.sha, len(keys), *keys, self._now(), *args)
                self._link.call(ask, resend=False, timeout=UNHURRIED, on_late=late)
            except Pending:  # `late` is told how it ended
                raise
            except BaseException as error:
                self.keep(together, error)
                raise

    def _taken(self, most: int) -> list[Correction]:
        return [self._queue.popleft() for _ in range(min(most, len(self._queue)))]

    def _lost(self, count: int, why: str) -> None:
        if count and time.monotonic() >= self._say_at:
            self._say_at = time.monotonic() + _SAY_EVERY
            log.warning("counters: corrections are lost: %s", why)
