"""A worker with Redis and its own memory, in a process that gevent has patched: one step a line.

    python -m tests.support.stepping URL FOLDER MACHINES

`take N` takes N times concurrently from 10 requests an hour and 6 slots, `settle` settles all of
them with a cost of one, `close` closes the store. Each prints a line of JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from gevent import monkey

monkey.patch_all()

import gevent  # noqa: E402
from gevent.fileobject import FileObjectThread  # noqa: E402

from engine.app.services.redis_counters import open_redis  # noqa: E402
from engine.config.stores import Stores  # noqa: E402
from engine.stores.counters.fallback import FallbackCounters, SharedCounters  # noqa: E402
from engine.stores.counters.memory import MemoryCounters  # noqa: E402
from engine.values.counters import CountersAway, Limit, TakeResult  # noqa: E402

LIMITS = (Limit("rate:a", 10, 3600.0), Limit("slots:a", 6, 0.0))


class CountedRedis:
    """Counters in Redis; `late` counts the takes that timed out."""

    def __init__(self, redis: SharedCounters) -> None:
        self._redis, self.late = redis, 0
        self.settle, self.in_doubt = redis.settle, redis.in_doubt
        self.ping, self.close = redis.ping, redis.close

    def take(self, limits: tuple[Limit, ...], costs: Sequence[int]) -> TakeResult:
        try:
            return self._redis.take(limits, costs)
        except CountersAway as error:
            self.late += "no answer within" in str(error)
            raise


class Stepper:
    def __init__(self, url: str, folder: str, machines: str) -> None:
        stores = Stores(counters=url, counters_timeout=1.0)
        self.redis = CountedRedis(open_redis(stores, Path(folder)))
        local = MemoryCounters(Path(folder))
        self.store = FallbackCounters(self.redis, local, machines=int(machines))
        self.receipts: list[object] = []

    def take(self, times: str) -> dict[str, object]:
        """Counts of passed, refused and failed takes; and since the start, of takes that timed out
        in Redis and that were counted locally."""
        results: dict[str, object] = {}
        greenlets = [gevent.spawn(self._take) for _ in range(int(times))]
        gevent.joinall(greenlets, raise_error=True)
        outcomes = [greenlet.get() for greenlet in greenlets]
        for outcome in ("passed", "refused", "failed"):
            results[outcome] = outcomes.count(outcome)
        results["late"] = self.redis.late
        results["locally"] = self.store.counted_locally
        return results

    def _take(self) -> str:
        try:
            result = self.store.take(LIMITS, (1, 1))
        except CountersAway:
            return "failed"
        if result.denied is not None:
            return "refused"
        self.receipts.append(result.receipt)
        return "passed"

    def settle(self) -> int:
        """Settle all receipts; their number."""
        count = len(self.receipts)
        while self.receipts:
            self.store.settle(self.receipts.pop(), (1, 0))
        return count

    def close(self) -> None:
        self.store.close()


def main() -> None:
    stepper = Stepper(*sys.argv[1:])
    lines = FileObjectThread(sys.stdin.buffer, "rb")
    print("ready", flush=True)
    for line in lines:
        step, *arguments = line.decode().split()
        print(json.dumps(getattr(stepper, step)(*arguments)), flush=True)
        if step == "close":
            return


if __name__ == "__main__":
    main()
