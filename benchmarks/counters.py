"""CPU of limits: microseconds of this process for a take and a settle of three limits.

A rate (nothing to correct), a token budget (corrected by `settle`) and slots (released), for one
caller and for many. A new bucket for each request is the most expensive case of a window. For
Redis it is the CPU of the worker under gevent, with round trips to a real server; the corrections
sent in the background are included.

    python -m benchmarks.counters [memory|redis]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gevent import monkey

monkey.patch_all()

from engine.process.runtime_dir import runtime_directory  # noqa: E402
from engine.stores.counters.memory import MemoryCounters, clock  # noqa: E402
from engine.stores.counters.redis.counters import RedisCounters  # noqa: E402
from engine.values.counters import Counters, Limit  # noqa: E402
from tests.support.redis_server import RedisServer  # noqa: E402

HUGE = 10**15
COSTS = (1, 1000, 1)


def limits_of(caller: int, window: float) -> tuple[Limit, ...]:
    return (
        Limit(f"rate:token-{caller}", HUGE, window),
        Limit(f"budget:token-{caller}", HUGE, window * 60),
        Limit(f"slots:token-{caller}", 100_000, 0),
    )


def measure(store: Counters, name: str, callers: int, window: float, rounds: int = 20_000) -> None:
    """Prints microseconds of CPU for a take and for a settle."""
    limits = [limits_of(caller, window) for caller in range(callers)]
    for limit_set in limits:
        store.settle(store.take(limit_set, COSTS).receipt, (1, 1000, 1))
    cpu = {"take": 0.0, "settle": 0.0}
    for at in range(0, rounds, 1000):
        start = time.process_time()
        results = [store.take(limits[i % callers], COSTS) for i in range(at, at + 500)]
        between = time.process_time()
        for result in results:
            store.settle(result.receipt, (1, 700, 1))
        while isinstance(store, RedisCounters) and len(store.corrections):
            time.sleep(0.001)
        cpu["take"] += between - start
        cpu["settle"] += time.process_time() - between
    take, settle = (1e6 * seconds / (rounds / 2) for seconds in cpu.values())
    print(f"{name:<34} take {take:6.1f} us   settle {settle:6.1f} us")


@contextmanager
def memory(**options: object) -> Iterator[MemoryCounters]:
    path = runtime_directory(Path(tempfile.mkdtemp(prefix="counters-benchmark-")))
    store = MemoryCounters(path, **options)  # type: ignore[arg-type]
    try:
        yield store
    finally:
        store.close()
        for file in path.iterdir():
            file.unlink()
        path.rmdir()


def measure_memory() -> None:
    with memory() as store:
        measure(store, "memory, one caller", 1, 60)
        measure(store, "memory, 10,000 callers", 10_000, 60)
    late = iter(range(clock(), clock() + 10**13, 2_000_000))
    with memory(clock=lambda: next(late)) as store:
        measure(store, "memory, a bucket for each request", 1, 60)
    with memory() as store:
        limits = (Limit("rate:token", 1, 60), *limits_of(1, 60)[1:])
        store.take(limits, COSTS)
        start = time.process_time()
        for _ in range(10_000):
            store.take(limits, COSTS)
        print(f"memory, denied {(time.process_time() - start) * 100:25.1f} us")


def measure_redis() -> None:
    server = RedisServer()
    try:
        store = RedisCounters(server.url)
        measure(store, "redis, one caller", 1, 60, 6_000)
        measure(store, "redis, 1,000 callers", 1000, 60, 6_000)
        store.close()
    finally:
        server.close()


if __name__ == "__main__":
    which = sys.argv[1:] or ["memory", "redis"]
    if "memory" in which:
        measure_memory()
    if "redis" in which:
        measure_redis()
