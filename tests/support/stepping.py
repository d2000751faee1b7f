"""A worker with Redis and its own memory, in a process that gevent has patched: one step a line.

    python -m tests.support.stepping URL FOLDER MACHINES

`take N` takes N times at once of 10 requests an hour and of 6 slots, `settle` ends what was taken
as requests that cost one, `close` lets go. Each answers with a line of JSON.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from gevent import monkey

monkey.patch_all()

import gevent  # noqa: E402
from gevent.fileobject import FileObjectThread  # noqa: E402

from engine.stores.counters.fallback import FallbackCounters  # noqa: E402
from engine.stores.counters.memory import MemoryCounters  # noqa: E402
from engine.stores.counters.redis import RedisCounters  # noqa: E402
from engine.values.counters import CountersAway, Limit  # noqa: E402

LIMITS = (Limit("rate:a", 10, 3600.0), Limit("slots:a", 6, 0.0))


class Stepper:
    def __init__(self, url: str, folder: str, machines: str) -> None:
        local = MemoryCounters(Path(folder))
        self.store = FallbackCounters(
            RedisCounters(url, folder=Path(folder)), local, machines=int(machines)
        )
        self.receipts: list[object] = []

    def take(self, times: str) -> dict[str, object]:
        """How many passed, were refused and failed, and the seconds of the slowest."""
        found: dict[str, object] = {}
        greenlets = [gevent.spawn(self._take) for _ in range(int(times))]
        gevent.joinall(greenlets, raise_error=True)
        outcomes = [greenlet.get() for greenlet in greenlets]
        for outcome in ("passed", "refused", "failed"):
            found[outcome] = sum(said == outcome for said, _ in outcomes)
        found["slowest"] = max(seconds for _, seconds in outcomes)
        found["locally"] = self.store.counted_locally
        return found

    def _take(self) -> tuple[str, float]:
        begun = time.monotonic()
        try:
            taken = self.store.take(LIMITS, (1, 1))
        except CountersAway:
            return "failed", time.monotonic() - begun
        if taken.denied is not None:
            return "refused", time.monotonic() - begun
        self.receipts.append(taken.receipt)
        return "passed", time.monotonic() - begun

    def settle(self) -> int:
        """How many were settled."""
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
