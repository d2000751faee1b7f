"""Delivers the messages of an outbox to their webhooks, in a background greenlet for each.

A message is sent until the receiver has answered with 2xx, at the times that Standard Webhooks
recommends, for about three days; then it is given up, which is logged. A receiver that answers 410
wants no more of them. Redirects are failures. Each attempt has a new time and signature, and the
same id and body.
"""

from __future__ import annotations

import logging
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from engine.process.log_throttle import LogThrottle
from engine.process.periodic import PeriodicTask
from engine.stores.webhooks.outbox import Message, Outbox
from engine.stores.webhooks.signature import signed_headers
from engine.values.metric import Sample, counter, gauge
from engine.values.upstream_request import PostResult

log = logging.getLogger("modelway")

WEBHOOKS = counter(
    "modelway_webhook_messages_total",
    "webhook outcome",
    "Messages to webhooks. outcome is delivered, failed (an attempt, another one follows) or lost "
    "(given up).",
)
WEBHOOKS_WAITING = gauge(
    "modelway_webhook_messages_waiting",
    "",
    "Messages that wait for their webhooks on this machine.",
    "livemax",
    is_fault=True,
)

DELAYS = (5.0, 300.0, 1800.0, 7200.0, 18_000.0, 36_000.0, 50_400.0, 72_000.0, 86_400.0)
"""Seconds after the first, second, ... failed attempt: about 75 hours in all."""
_INTERVAL = 1.0
_PAUSE = 60.0
"""The longest time in seconds in which a webhook that failed gets none of its other messages."""
_GONE = 410
_CLOSE_SECONDS = 2.0


Post = Callable[[bytes, Sequence[tuple[str, str]]], PostResult]
"""Sends a body with these headers to a webhook. A failure is a result, not an exception."""


class Receiver(Struct, frozen=True):
    """A webhook: how it is reached, and the keys of its signatures."""

    post: Post
    keys: Sequence[bytes]


class Deliveries:
    """Delivers the messages of an `outbox` to the `receivers`, by their names, while this process
    has the lock of the outbox. `counts` counts messages by webhook and outcome."""

    def __init__(
        self,
        outbox: Outbox,
        receivers: Mapping[str, Receiver],
        *,
        clock: Callable[[], float] = time.time,
        dice: Callable[[], float] = random.random,
    ) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self._outbox = outbox
        self._receivers = receivers
        self._clock = clock
        self._dice = dice
        self._pauses: dict[str, float] = {}
        self._throttles = {name: LogThrottle() for name in receivers}
        self._tasks = [PeriodicTask(self._upkeep, _INTERVAL)]
        for name in receivers:
            work = self._round_of(name)
            self._tasks.append(PeriodicTask(work, _INTERVAL, run_on_stop=True))

    def start(self) -> None:
        """Deliver in the background from now on; in its process, after the fork."""
        for task in self._tasks:
            task.start()

    def close(self) -> None:
        """Deliver what is due within two seconds; the others wait for the next process."""
        for task in self._tasks:
            task.stop(_CLOSE_SECONDS / len(self._tasks))
        self._outbox.close()

    def round(self, name: str) -> None:
        """Send the messages of a webhook that are due, up to the first that fails."""
        if not self._outbox.leads() or self._pauses.get(name, 0.0) > self._clock():
            return
        for message in self._outbox.messages(name):
            if message.due <= self._clock() and not self._send(name, message):
                return

    def collect(self) -> Iterator[Sample]:
        """The samples of the metrics."""
        for labels, count in self.counts.items():
            yield WEBHOOKS, labels, count
        yield WEBHOOKS_WAITING, (), self._outbox.count()

    def _round_of(self, name: str) -> Callable[[float], float]:
        def work(waited: float) -> float:
            self.round(name)
            return _INTERVAL

        return work

    def _upkeep(self, waited: float) -> float:
        if self._outbox.leads():
            self._outbox.adopt_drafts()
            if removed := self._outbox.remove_others(self._receivers.keys()):
                log.warning("%d messages are lost: their webhooks were removed", removed)
        return _INTERVAL

    def _send(self, name: str, message: Message) -> bool:
        """Make one attempt; False if the webhook should have a pause."""
        receiver, body, now = self._receivers[name], message.body.encode(), self._clock()
        headers = signed_headers(receiver.keys, message.id, int(now), body)
        result = receiver.post(body, headers)
        if 200 <= result.status < 300:
            self.counts[name, "delivered"] += 1
            self._outbox.remove(message)
            return True
        reason = result.error or f"it answered with status {result.status}"
        if result.status == _GONE or message.attempts >= len(DELAYS):
            self.counts[name, "lost"] += 1
            self._outbox.remove(message)
            text = "webhook '%s': message %s is lost after %d attempts: %s"
            log.error(text, name, message.id, message.attempts + 1, reason)
            return result.status == _GONE
        self.counts[name, "failed"] += 1
        delay = DELAYS[message.attempts] * (0.8 + 0.4 * self._dice())
        delay = max(delay, min(result.retry_after or 0.0, DELAYS[-1]))
        self._outbox.update(message, now + delay)
        self._pauses[name] = now + min(delay, _PAUSE)
        self._throttles[name].log("webhook '%s' failed, and is tried again: %s", name, reason)
        return False
