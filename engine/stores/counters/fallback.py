"""Counters that go on without their server: what Redis does not decide in time, this machine does.

The law, for any window of a limit (and for slots, at any time):

- Redis never lets more than the amount pass, and while it does not answer each of `machines` lets
  at most its share of the amount pass: together at most twice the amount.
- Redis may lose its data (killed without persistence). What it then lets pass anew is counted on
  this machine as well, against the whole amount, for as long as what was lost would have counted.
  So one machine never lets more than twice the amount pass, however often that happens.

Each request is decided once, by whom it says; what is counted here is not added to Redis later. A
limit frees up here as it does there, as time passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from engine.stores.counters.memory import Memory
from engine.stores.counters.redis import Redis
from engine.values.counters import CounterKeys, CountersAway, TakeResult
from engine.values.throttle import LogThrottle


class _Both(NamedTuple):
    """The receipts of a request of which some limits, by their indices, are counted twice."""

    redis: object
    local: object
    twice: tuple[int, ...]


class Fallback:
    """Counters in `redis`, and in `local` while that does not answer: against the share that one of
    `machines` has of each limit. `counted_locally` is for how many requests that was so."""

    def __init__(self, redis: Redis, local: Memory, *, machines: int = 1) -> None:
        self._redis, self._local, self._machines = redis, local, machines
        self._log = LogThrottle()
        self.counted_locally = 0

    def take(self, asked: CounterKeys, costs: Sequence[int]) -> TakeResult:
        try:
            taken = self._redis.take(asked, costs)
        except CountersAway as away:
            return self._take_locally(asked, costs, away)
        if taken.denied is None and (twice := self._redis.in_doubt(asked)):
            return self._take_twice(asked, costs, taken, twice)
        return taken

    def settle(self, receipt: object, costs: Sequence[int]) -> None:
        if type(receipt) is _Both:
            self._redis.settle(receipt.redis, costs)
            self._local.settle(receipt.local, [costs[at] for at in receipt.twice])
        else:  # each store leaves the other's receipts alone
            self._redis.settle(receipt, costs)
            self._local.settle(receipt, costs)

    def close(self) -> None:
        """Close both stores."""
        self._redis.close()
        self._local.close()

    def _take_locally(
        self, asked: CounterKeys, costs: Sequence[int], away: CountersAway
    ) -> TakeResult:
        every = tuple(range(len(costs)))
        taken = self._local.take(asked.part(every, self._machines), costs)
        self.counted_locally += 1
        share = f", against 1/{self._machines} of each" if self._machines > 1 else ""
        self._log.say("counters: %s; limits are counted on this machine alone%s", away, share)
        return taken

    def _take_twice(
        self, asked: CounterKeys, costs: Sequence[int], taken: TakeResult, twice: tuple[int, ...]
    ) -> TakeResult:
        """What passed in Redis, held against the whole limits `twice` on this machine as well."""
        try:
            local = self._local.take(asked.part(twice, 1), [costs[at] for at in twice])
        except CountersAway:
            self._redis.settle(taken.receipt, [0] * len(costs))
            raise
        remaining, resets, waits = list(taken.remaining), list(taken.resets), [0.0] * len(costs)
        for number, at in enumerate(twice):
            remaining[at] = min(remaining[at], local.remaining[number])
            resets[at] = max(resets[at], local.resets[number])
        if local.denied is None:
            both = _Both(taken.receipt, local.receipt, twice)
            return TakeResult(None, remaining, resets, both)
        self._redis.settle(taken.receipt, [0] * len(costs))
        for number, at in enumerate(twice):
            waits[at] = local.waits[number]
        return TakeResult(twice[local.denied], remaining, resets, None, waits)
