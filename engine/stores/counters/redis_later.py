"""What a Redis server is told when there is time: corrections, slots given back, leases renewed.

One greenlet of each worker sends it, many at a time, so that the end of a request waits for
nothing. What was not sent because the server is away is kept and sent later, up to `KEPT`; of what
may have been sent only slots are given back again, which does no harm.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator

import gevent
from gevent.event import Event
from gevent.lock import BoundedSemaphore

from engine.stores.counters import CountersAway
from engine.stores.counters.redis_link import REST, Command, Link, Unsent

log = logging.getLogger("modelway")

KEPT = 10_000
_TOGETHER = 100
_SAY_EVERY = 60.0


class Later:
    """A queue to a server, and the greenlet that empties it. `renewals` gives what is to be said
    every `every` seconds."""

    def __init__(self, link: Link, renewals: Callable[[], Iterator[Command]], every: float) -> None:
        self._link, self._renewals, self._every = link, renewals, every
        self._queue: deque[Command] = deque()
        self._wake = Event()
        self._sending = BoundedSemaphore(1)
        self._greenlet: gevent.Greenlet[[], None] | None = None
        self._say_at = 0.0

    def add(self, command: Command) -> None:
        """Send this when there is time."""
        if len(self._queue) >= KEPT:
            self._lost(1, f"{KEPT} wait already")
            return
        self._queue.append(command)
        self.run()
        self._wake.set()

    def run(self) -> None:
        """See to it that the greenlet runs."""
        if self._greenlet is None or self._greenlet.dead:
            self._greenlet = gevent.spawn(self._loop)

    def __len__(self) -> int:
        """How many commands wait."""
        return len(self._queue)

    def abandon(self) -> None:
        """Leave all to the process that this one was forked from: it has the same connections."""
        self._queue.clear()
        if self._greenlet is not None:
            self._greenlet.kill(block=False)

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
            self._wake.wait(max(renew_at - time.monotonic(), 0))
            self._wake.clear()
            if time.monotonic() >= renew_at:
                renew_at = time.monotonic() + self._every
                self._queue.extend(self._renewals())
            while self._queue:
                try:
                    self._send()
                except Unsent:
                    gevent.sleep(REST)
                except CountersAway as error:
                    log.debug("counters: %s", error)

    def _send(self) -> None:
        try:
            with self._sending:
                together = [self._queue.popleft() for _ in range(min(_TOGETHER, len(self._queue)))]
                self._link.many(together)
        except Unsent:
            self._queue.extendleft(reversed(together))
            raise
        except CountersAway as error:
            # Giving a slot back twice does no harm; not giving it back does.
            again = [command for command in together if command[0] == "ZREM"]
            self._queue.extendleft(reversed(again))
            self._lost(len(together) - len(again), str(error))
            raise

    def _lost(self, count: int, why: str) -> None:
        if count and time.monotonic() >= self._say_at:
            self._say_at = time.monotonic() + _SAY_EVERY
            log.warning("counters: corrections are lost: %s", why)
