"""Counters with one hash tag in a Redis server: a take of several limits is atomic.

A take is one round trip, and carries the corrections of earlier requests. All keys have the same
hash tag, because one script changes them together and a cluster stores a hash tag in one slot.
Slots of `concurrency` are leases that a worker renews while it lives, so those of a killed worker
are free within `LEASE` seconds.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial

from engine.stores.counters.redis.call import PartitionClient, Pending, Unsent
from engine.stores.counters.redis.connection import Answer, Command
from engine.stores.counters.redis.corrections import Correction, CorrectionQueue
from engine.stores.counters.redis.scripts import RENEW, TAKE
from engine.stores.counters.windows import tick_of
from engine.values.calendar import Calendar, CalendarWindows
from engine.values.counters import SLOT_RETRY, CountersAway, Limit, TakeResult

LEASE = 30.0
_RENEWALS = 500
"""The largest number of leases in one renewal command."""

_Location = tuple[str, int | Calendar, int]
"""The Redis key of a limit, its tick in microseconds (0 for slots) or calendar, and its amount."""


@lru_cache(maxsize=4096)
def _locations_of(limits: tuple[Limit, ...], tag: str) -> tuple[_Location, ...]:
    return tuple(_location(limit, tag) for limit in limits)


def _location(limit: Limit, tag: str) -> _Location:
    if isinstance(limit.window, Calendar):
        return f"{tag}:{limit.window.period}:{limit.key}", limit.window, limit.amount
    tick = tick_of(limit.window) if limit.window else 0
    return f"{tag}:{tick}:{limit.key}", tick, limit.amount


class _RedisReceipt:
    """The costs that a request took, with their limits and buckets; `lease` names its slots.
    `locations` is () after `settle`."""

    __slots__ = ("buckets", "costs", "lease", "locations")

    def __init__(
        self,
        locations: Sequence[_Location],
        costs: Sequence[int],
        buckets: Sequence[int],
        lease: str,
    ) -> None:
        self.locations, self.costs, self.buckets, self.lease = locations, costs, buckets, lease


class Partition:
    """The counters of one hash tag. Construct them in the worker, after the fork, because it owns
    the connections and slots.

    `lease` is the number of seconds after which the slots of a dead worker are free; `clock`
    returns microseconds, instead of the server's clock, for tests.

    A take whose answer is late is reverted when the answer comes, because its request was decided
    without it. If the connection breaks instead, its slots are released, which is harmless if none
    were taken; what it may have taken of a window stays taken.
    """

    def __init__(
        self,
        client: PartitionClient,
        *,
        tag: str,
        lease: float = LEASE,
        clock: Callable[[], int] | None = None,
    ) -> None:
        self._client, self._tag = client, tag
        self._clock, self._windows = clock, CalendarWindows()
        self._lease_us = int(lease * 1_000_000)
        self._name, self._count = os.urandom(8).hex(), 0
        self._leases: dict[str, set[str]] = {}
        self.corrections = CorrectionQueue(self._client, self._renewals, lease / 3, self._now)

    def ping(self) -> None:
        """Raise CountersAway if the server does not answer."""
        self._client.call(("PING",))

    def in_doubt(self, limits: tuple[Limit, ...]) -> tuple[int, ...]:
        """The indices of limits whose counts the server may have lost: it lost its data within the
        window, or, for slots, has been available again for less than a lease."""
        if self._client.back_at < 0:  # it was never away
            return ()
        now = time.monotonic()
        since_loss, back = now - self._client.lost_at, now - self._client.back_at
        return tuple(
            at
            for at, (_, _, window) in enumerate(limits)
            if (since_loss < self._age(window) if window else back < LEASE)
        )

    def _age(self, window: float | Calendar) -> float:
        """The age in seconds of the oldest count in a window."""
        if not isinstance(window, Calendar):
            return window
        now = self._wall_time()
        return (now - self._windows.around(window, now)[1]) / 1e6

    def take(
        self, limits: tuple[Limit, ...], costs: Sequence[int], *, with_corrections: bool = True
    ) -> TakeResult:
        """As `Counters.take` says. Without corrections, the command has only the keys of the
        limits.
        """
        self._client.raise_if_away()
        self._count += 1
        lease = f"{self._name}:{self._count}"
        keys: list[str] = []
        args: list[str | int] = []
        locations = _locations_of(limits, self._tag)
        for (key, tick, amount), cost in zip(locations, costs, strict=True):
            keys.append(key)
            args += (amount, self._unit(tick), cost)
        corrections = self.corrections.pop_for_take() if with_corrections else []
        for correction in corrections:
            keys.append(correction.key)
            args += correction[1:]
        head = (self._now(), lease, self._lease_us, len(locations))
        command = ("EVALSHA", TAKE.sha, len(keys), *keys, *head, *args)
        receipt = _RedisReceipt(locations, costs, (), lease)
        late = partial(self._undo, receipt, corrections)
        try:
            denied, *states = self._client.call(command, resend=not corrections, on_late=late)
        except Unsent as error:
            self.corrections.requeue(corrections, error)
            raise
        except Pending:
            raise
        except BaseException as error:
            away = error if isinstance(error, CountersAway) else CountersAway("interrupted")
            self._undo(receipt, corrections, away)
            raise
        resets = [reset / 1e6 for reset in states[2::4]]
        if denied:
            waits = [wait / 1e6 if wait >= 0 else SLOT_RETRY for wait in states[3::4]]
            return TakeResult(denied - 1, states[1::4], resets, None, waits)
        for at, (key, tick, _) in enumerate(locations):
            if not tick:
                self._hold(key, f"{lease}:{at + 1}", costs[at])
        receipt.buckets = states[::4]
        return TakeResult(None, states[1::4], resets, receipt)

    def _undo(
        self, receipt: _RedisReceipt, corrections: Sequence[Correction], answer: Answer
    ) -> None:
        """Revert the take of a request that was decided without its `answer`, a CountersAway if
        there is none."""
        if isinstance(answer, CountersAway):
            self.corrections.requeue(corrections, answer)
            receipt.buckets = ()
        elif answer[0]:  # denied: nothing was taken
            return
        else:
            receipt.buckets = answer[1::4]
        for at, (key, tick, _) in enumerate(receipt.locations):
            if not tick:
                self._release(key, f"{receipt.lease}:{at + 1}", receipt.costs[at])
            elif receipt.buckets and receipt.costs[at]:
                bucket, cost = receipt.buckets[at], receipt.costs[at]
                self.corrections.add(Correction(key, self._unit(tick), bucket, -cost))

    def settle(self, receipt: object, costs: Sequence[int]) -> None:
        """As `Counters.settle` says."""
        if not isinstance(receipt, _RedisReceipt):
            return
        locations, receipt.locations = receipt.locations, ()
        for at, (key, tick, _) in enumerate(locations):
            amount_taken, cost = receipt.costs[at], costs[at]
            if not tick:
                self._release(key, f"{receipt.lease}:{at + 1}", amount_taken)
            elif cost != amount_taken:
                change = cost - amount_taken
                self.corrections.add(Correction(key, self._unit(tick), receipt.buckets[at], change))

    def close(self) -> None:
        """Send queued corrections, and close the connections."""
        self.corrections.close()
        self._client.close()

    def _unit(self, tick: int | Calendar) -> int | str:
        """A tick, or the edges of a calendar as text, for scripts."""
        if not isinstance(tick, Calendar):
            return tick
        return ",".join(map(str, self._windows.around(tick, self._wall_time())))

    def _wall_time(self) -> int:
        return time.time_ns() // 1000 if self._clock is None else self._clock()

    def _now(self) -> int | str:
        return "" if self._clock is None else self._clock()

    def _hold(self, key: str, lease: str, count: int) -> None:
        self._leases.setdefault(key, set()).update(_members(lease, count))
        self.corrections.start()

    def _release(self, key: str, lease: str, count: int) -> None:
        slots = self._leases.get(key)
        if slots is not None:
            slots.difference_update(_members(lease, count))
            if not slots:
                del self._leases[key]
        if count:
            self.corrections.add(Correction(key, 0, lease, count))

    def _renewals(self) -> Iterator[Command]:
        for key, slots in list(self._leases.items()):
            members = list(slots)
            for at in range(0, len(members), _RENEWALS):
                batch = members[at : at + _RENEWALS]
                yield ("EVALSHA", RENEW.sha, 1, key, self._now(), self._lease_us, *batch)


def _members(lease: str, count: int) -> list[str]:
    return [f"{lease}:{number}" for number in range(1, count + 1)]
