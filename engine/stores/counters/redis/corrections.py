"""The queue of corrections to a Redis server: costs of ended requests and released slots. Its
greenlet renews leases as well.

The end of a request does not wait for the server. The next take carries corrections before its own
keys, so that the next request of the same caller sees the released slots; otherwise a greenlet of
the worker sends them in batches a moment later. Corrections that the server did not execute,
because it is away or refuses them, stay queued, up to `MAX_QUEUED`. Of those that were sent without
an answer, only releases of slots are sent again, because they are idempotent.
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

from engine.process.log_throttle import LogThrottle
from engine.stores.counters.redis.call import PartitionClient, Pending, Unsent
from engine.stores.counters.redis.connection import Command
from engine.stores.counters.redis.scripts import SETTLE
from engine.values.counters import CountersAway

log = logging.getLogger("modelway")

MAX_QUEUED = 10_000
RETRY_DELAY = 1.0
"""Seconds after a failure until corrections are sent again."""
BATCH_DELAY = 0.002
"""Seconds that corrections wait for a take to carry them."""
_BATCH = 100
_WITH_TAKE = 16
"""The largest number of corrections in one take; few, because a request waits for it."""


class Correction(NamedTuple):
    """A correction of a limit's record at `key`, by the type of `tick`:

    an int above 0    add `change` to the bucket `at` of a window with this tick
    a str             add `change` to the window from `at` of a calendar with these edges
    0                 release `change` slots of the lease `at`
    """

    key: str
    tick: int | str
    at: int | str
    change: int


class CorrectionQueue:
    """The queue, and the greenlet that sends it. `renewals` returns commands to send every
    `interval` seconds, `now` the time for scripts ("": the server's)."""

    def __init__(
        self,
        client: PartitionClient,
        renewals: Callable[[], Iterator[Command]],
        interval: float,
        now: Callable[[], int | str],
    ) -> None:
        self._client, self._renewals, self._interval, self._now = client, renewals, interval, now
        self._queue: deque[Correction] = deque()
        self._wake = Event()
        self._sending = BoundedSemaphore(1)
        self._greenlet: gevent.Greenlet[[], None] | None = None
        self._throttle = LogThrottle()

    def add(self, correction: Correction) -> None:
        """Queue a correction."""
        if len(self._queue) >= MAX_QUEUED:
            self._log_loss(1, f"{MAX_QUEUED} are queued already")
            return
        self._queue.append(correction)
        self.start()
        self._wake.set()

    def pop_for_take(self) -> list[Correction]:
        """Corrections for a take to carry; the caller returns them with `requeue` if it fails."""
        if not self._queue or self._sending.locked():  # do not overtake the batch being sent
            return []
        return self._pop(_WITH_TAKE)

    def requeue(self, batch: Sequence[Correction], error: BaseException) -> None:
        """Queue the corrections that may be sent again, after sending failed with `error`."""
        retries = batch
        if not isinstance(error, Unsent):
            # Only slots, whose release is idempotent, and must not be lost.
            retries = [correction for correction in batch if not correction.tick]
            self._log_loss(len(batch) - len(retries), str(error) or type(error).__name__)
        self._queue.extendleft(reversed(retries))

    def start(self) -> None:
        """Start the greenlet, unless it runs."""
        if self._greenlet is None or self._greenlet.dead:
            self._greenlet = gevent.spawn(self._loop)

    def __len__(self) -> int:
        """How many corrections are queued."""
        return len(self._queue)

    def close(self) -> None:
        """Send the queue, with one attempt."""
        with self._sending:  # the batch being sent ends within the client's timeout
            if self._greenlet is not None:
                self._greenlet.kill()
        try:
            while self._queue:
                self._send()
        except CountersAway as error:
            self._log_loss(len(self._queue), str(error))

    def _loop(self) -> None:
        renew_at = time.monotonic() + self._interval
        while True:
            if self._wake.wait(max(renew_at - time.monotonic(), 0)):
                gevent.sleep(BATCH_DELAY)
            self._wake.clear()
            try:
                if time.monotonic() >= renew_at:
                    self._renew()
                    renew_at = time.monotonic() + self._interval
                while self._queue:
                    self._send()
            except CountersAway as error:
                self._wake.set()  # send the rest in the next iteration
                log.debug("counters: %s", error)
                gevent.sleep(RETRY_DELAY)

    def _renew(self) -> None:
        with self._sending:  # a slot released meanwhile is sent after its renewal
            for command in self._renewals():
                self._client.call(command)

    def _send(self) -> None:
        with self._sending:
            batch = self._pop(_BATCH)
            keys = [correction.key for correction in batch]
            args = [value for correction in batch for value in correction[1:]]

            def late(answer: object) -> None:
                if isinstance(answer, CountersAway):
                    self.requeue(batch, answer)

            try:
                command = ("EVALSHA", SETTLE.sha, len(keys), *keys, self._now(), *args)
                self._client.call(command, resend=False, on_late=late)
            except Pending:  # `late` is called with the result
                raise
            except BaseException as error:
                self.requeue(batch, error)
                raise

    def _pop(self, limit: int) -> list[Correction]:
        return [self._queue.popleft() for _ in range(min(limit, len(self._queue)))]

    def _log_loss(self, count: int, reason: str) -> None:
        if count:
            self._throttle.log("counters: corrections are lost: %s", reason)
