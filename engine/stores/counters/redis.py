"""Counters of many machines, in a Redis server: exact across all of them.

A take is one round trip for all limits of a request, and has along what there is to correct of
those before it. All keys have the same hash tag, because one script changes them together: a
cluster keeps them on one of its shards, which this needs the address of (it does not follow a
cluster's redirections). Slots are leases that a worker renews as long as it lives, so those of a
killed one are free again within `LEASE` seconds.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from engine.stores.counters.redis_later import Correction, Later
from engine.stores.counters.redis_link import (
    Command,
    Link,
    Pending,
    Unsent,
)
from engine.stores.counters.redis_scripts import RENEW, TAKE
from engine.stores.counters.windows import tick_of
from engine.values.counters import SLOT_RETRY, CountersAway, Limit, TakeResult

LEASE = 30.0
TIMEOUT = 0.25
_TAG = "{modelway}"
_TOGETHER = 500


_Location = tuple[str, int, int]
"""The Redis key of a limit, its tick in microseconds (0 for slots), and its amount."""


@lru_cache(maxsize=4096)
def _locations_of(limits: tuple[Limit, ...]) -> tuple[_Location, ...]:
    return tuple(_location(limit) for limit in limits)


def _location(limit: Limit) -> _Location:
    tick = tick_of(limit.window) if limit.window else 0
    return f"{_TAG}:{tick}:{limit.key}", tick, limit.amount


class _Receipt:
    """What a request took of which limits, in which buckets; `lease` names its slots. `locations`
    is () once settled."""

    __slots__ = ("buckets", "costs", "lease", "locations")

    def __init__(
        self,
        locations: Sequence[_Location],
        costs: Sequence[int],
        buckets: Sequence[int],
        lease: str,
    ) -> None:
        self.locations, self.costs, self.buckets, self.lease = locations, costs, buckets, lease


class RedisCounters:
    """Counters in the server at `url`: `redis://`, `rediss://` or `unix://`. To be made by the
    worker that uses them: a child of its would have the same connections, and hold the same slots.

    ValueError for another URL. `timeout` is the time for one round trip, in seconds, whatever it
    takes; `lease` the seconds after which slots of a dead worker are free; `folder` is where the
    workers of a machine keep what they know of the server; `clock` gives microseconds in place of
    the server's own clock, for tests.

    A take whose answer comes too late is undone when it comes, because its request was decided
    without it. Where the connection broke instead, its slots are given back (which does no harm if
    none were taken), and what it may have taken of a window stays taken.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout: float = TIMEOUT,
        lease: float = LEASE,
        folder: Path | None = None,
        clock: Callable[[], int] | None = None,
    ) -> None:
        self._clock = clock
        self._ends = int(lease * 1_000_000)
        self._name, self._count = os.urandom(8).hex(), 0
        self._held: dict[str, set[str]] = {}
        self._link = Link(url, timeout, folder)
        self._later = Later(self._link, self._renewals, lease / 3, self._now)

    def ping(self) -> None:
        """Ask whether the server is there. Raises CountersAway."""
        self._link.call(("PING",))

    def in_doubt(self, limits: tuple[Limit, ...]) -> tuple[int, ...]:
        """Of which limits, by their indices, the server may have forgotten what was taken: it lost
        its data within the window or, for slots, came back within a lease."""
        if self._link.back_at < 0:  # it was never away
            return ()
        now = time.monotonic()
        lost, back = now - self._link.mark.lost_at, now - self._link.back_at
        return tuple(
            at
            for at, (_, _, window) in enumerate(limits)
            if (lost < window if window else back < LEASE)
        )

    def take(self, limits: tuple[Limit, ...], costs: Sequence[int]) -> TakeResult:
        self._link.check()
        self._count += 1
        lease = f"{self._name}:{self._count}"
        keys: list[str] = []
        args: list[str | int] = []
        locations = _locations_of(limits)
        for (key, tick, amount), cost in zip(locations, costs, strict=True):
            keys.append(key)
            args += (amount, tick, cost)
        for correction in (before := self._later.along()):
            keys.append(correction.key)
            args += correction[1:]
        named = (self._now(), lease, self._ends, len(locations))
        ask = ("EVALSHA", TAKE.sha, len(keys), *keys, *named, *args)
        receipt = _Receipt(locations, costs, (), lease)
        late = partial(self._undo, receipt, before)
        try:
            denied, *states = self._link.call(ask, resend=not before, on_late=late)
        except Unsent as error:
            self._later.keep(before, error)
            raise
        except Pending:
            raise
        except BaseException:
            self._undo(receipt, before, None)
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

    def _undo(self, receipt: _Receipt, before: Sequence[Correction], answer: Any) -> None:
        """Give back what a take has taken that was decided without its `answer`; None: that is not
        known and never will be."""
        if answer is None:
            self._later.keep(before, CountersAway("the answer never came"))
            receipt.buckets = ()
        elif answer[0]:  # it was denied
            return
        else:
            receipt.buckets = answer[1::4]
        for at, (key, tick, _) in enumerate(receipt.locations):
            if not tick:
                self._give_back(key, f"{receipt.lease}:{at + 1}", receipt.costs[at])
            elif receipt.buckets and receipt.costs[at]:
                bucket, cost = receipt.buckets[at], receipt.costs[at]
                self._later.add(Correction(key, tick, bucket, -cost))

    def settle(self, receipt: object, costs: Sequence[int]) -> None:
        if not isinstance(receipt, _Receipt):
            return
        locations, receipt.locations = receipt.locations, ()
        for at, (key, tick, _) in enumerate(locations):
            was, cost = receipt.costs[at], costs[at]
            if not tick:
                self._give_back(key, f"{receipt.lease}:{at + 1}", was)
            elif cost != was:
                self._later.add(Correction(key, tick, receipt.buckets[at], cost - was))

    def close(self) -> None:
        """Send what is to be sent, and close the connections."""
        self._later.close()
        self._link.close()

    def waiting(self) -> int:
        """How many corrections are not sent yet."""
        return len(self._later)

    def _now(self) -> int | str:
        return "" if self._clock is None else self._clock()

    def _hold(self, key: str, lease: str, count: int) -> None:
        self._held.setdefault(key, set()).update(_members(lease, count))
        self._later.run()

    def _give_back(self, key: str, lease: str, count: int) -> None:
        held = self._held.get(key)
        if held is not None:
            held.difference_update(_members(lease, count))
            if not held:
                del self._held[key]
        if count:
            self._later.add(Correction(key, 0, lease, count))

    def _renewals(self) -> Iterator[Command]:
        for key, held in list(self._held.items()):
            members = list(held)
            for at in range(0, len(members), _TOGETHER):
                some = members[at : at + _TOGETHER]
                yield ("EVALSHA", RENEW.sha, 1, key, self._now(), self._ends, *some)


def _members(lease: str, count: int) -> list[str]:
    return [f"{lease}:{number}" for number in range(1, count + 1)]
