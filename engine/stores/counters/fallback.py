"""Counters in Redis, with counters of this machine as a fallback while Redis does not answer.

The guarantees, for any window of a limit (and for slots, at any time):

- Redis never lets more than the amount pass. While Redis does not answer, each of `machines` lets
  at most its share of the amount pass. Together that is at most twice the amount.
- Redis may lose its data (killed without persistence). Afterwards requests are counted on this
  machine as well, against the full amount, for as long as the lost counts would have lasted. So one
  machine never lets more than twice the amount pass, however often Redis loses its data.

Each request is decided once. Local counts are not added to Redis later; they expire as they would
there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

from engine.process.log_throttle import LogThrottle
from engine.stores.counters.memory import MemoryCounters
from engine.values.counters import Counters, CountersAway, Limit, TakeResult


class SharedCounters(Counters, Protocol):
    """Counters that several machines share, in Redis."""

    def in_doubt(self, limits: tuple[Limit, ...]) -> tuple[int, ...]:
        """The indices of limits whose counts may be lost, to be counted on this machine as well."""
        ...

    def ping(self) -> None:
        """Raise CountersAway if a server does not answer."""
        ...


class _DoubleReceipt(NamedTuple):
    """The receipts of a request whose limits at `indices` are counted on this machine as well."""

    redis: object
    local: object
    indices: tuple[int, ...]


class FallbackCounters:
    """Counters in `redis`; in `local` while Redis is away, where the amount of each limit is
    divided by `machines`. `counted_locally` counts the requests that were decided locally."""

    def __init__(self, redis: SharedCounters, local: MemoryCounters, *, machines: int = 1) -> None:
        self._redis, self._local, self._machines = redis, local, machines
        self._throttle = LogThrottle()
        self.counted_locally = 0

    def take(self, limits: tuple[Limit, ...], costs: Sequence[int]) -> TakeResult:
        try:
            result = self._redis.take(limits, costs)
        except CountersAway as away:
            return self._take_locally(limits, costs, away)
        if result.denied is None and (indices := self._redis.in_doubt(limits)):
            return self._take_twice(limits, costs, result, indices)
        return result

    def settle(self, receipt: object, costs: Sequence[int]) -> None:
        if type(receipt) is _DoubleReceipt:
            self._redis.settle(receipt.redis, costs)
            self._local.settle(receipt.local, [costs[at] for at in receipt.indices])
        else:  # each store ignores the other's receipts
            self._redis.settle(receipt, costs)
            self._local.settle(receipt, costs)

    def close(self) -> None:
        """Close both stores."""
        self._redis.close()
        self._local.close()

    def _take_locally(
        self, limits: tuple[Limit, ...], costs: Sequence[int], away: CountersAway
    ) -> TakeResult:
        result = self._local.take(machine_shares(limits, self._machines), costs)
        self.counted_locally += 1
        share = f", against 1/{self._machines} of each" if self._machines > 1 else ""
        self._throttle.log("counters: %s; limits are counted on this machine alone%s", away, share)
        return result

    def _take_twice(
        self,
        limits: tuple[Limit, ...],
        costs: Sequence[int],
        result: TakeResult,
        indices: tuple[int, ...],
    ) -> TakeResult:
        """Also take from the limits at `indices` on this machine, against their full amounts."""
        try:
            local = self._local.take(
                tuple(limits[at] for at in indices), [costs[at] for at in indices]
            )
        except CountersAway:
            self._redis.settle(result.receipt, [0] * len(costs))
            raise
        remaining, resets = list(result.remaining), list(result.resets)
        for at, local_remaining, local_reset in zip(
            indices, local.remaining, local.resets, strict=True
        ):
            remaining[at] = min(remaining[at], local_remaining)
            resets[at] = max(resets[at], local_reset)
        if local.denied is None:
            receipt = _DoubleReceipt(result.receipt, local.receipt, indices)
            return TakeResult(None, remaining, resets, receipt)
        self._redis.settle(result.receipt, [0] * len(costs))
        waits = [0.0] * len(costs)
        for at, wait in zip(indices, local.waits, strict=True):
            waits[at] = wait
        return TakeResult(indices[local.denied], remaining, resets, None, waits)


@lru_cache(maxsize=4096)
def machine_shares(limits: tuple[Limit, ...], machines: int) -> tuple[Limit, ...]:
    """The limits with their amounts divided by `machines`, rounded down and at least 1."""
    return tuple(limit._replace(amount=max(1, limit.amount // machines)) for limit in limits)
