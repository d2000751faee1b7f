"""Stores of counters for tests, in memory and in Redis, and workers that use them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import gevent

from engine.machine.shared_memory import attach, detach
from engine.stores.counters.memory import MemoryCounters
from engine.stores.counters.redis.address import DEFAULTS, RedisOptions, parse
from engine.stores.counters.redis.client import RedisClient
from engine.stores.counters.redis.counters import ClusterCounters, RedisCounters, client_of
from engine.values import counters
from engine.values.calendar import Calendar
from engine.values.counters import Counters, TakeResult
from tests.support.clock import MicrosecondClock
from tests.support.paths import ROOT
from tests.support.waiting import Deadline

SECOND = 1_000_000


class Limit(NamedTuple):
    """What one request takes of one quota."""

    key: str
    amount: int
    window: float | Calendar
    cost: int = 1


def client_at(
    url: str, options: RedisOptions = DEFAULTS, folder: Path | None = None
) -> RedisClient:
    """A client of a server, without counters."""
    return client_of(parse(url, options), options, folder)


RATE = [Limit("rate:a", 10, 3600.0, 2)]
"""A limit of ten, of which a request takes two."""


def rate(sharer: str, amount: int, name: str = "rate", cost: int = 1) -> Limit:
    """A limit of `amount` an hour, with the key that a sharer's limit has."""
    return Limit(f"{name}|{sharer}", amount, 3600.0, cost)


def shared_rate(key: str = "rate:a", amount: int = 3, cost: int = 1) -> list[Limit]:
    """A limit of `amount` requests per minute, of which a request takes `cost`."""
    return [Limit(key, amount, 60.0, cost)]


def take(store: Counters, limits: Sequence[Limit]) -> TakeResult:
    """Take the cost of each limit from it."""
    plain = tuple(counters.Limit(*limit[:3]) for limit in limits)
    return store.take(plain, [limit.cost for limit in limits])


class Bench:
    """A store with its clock. `settle` returns once Redis has the corrections."""

    def __init__(self, store: Counters, clock: MicrosecondClock) -> None:
        self.store, self.clock = store, clock

    def take(self, *limits: Limit) -> TakeResult:
        return take(self.store, limits)

    def passes(self, *limits: Limit) -> bool:
        return take(self.store, limits).denied is None

    def settle(self, receipt: object, *costs: int) -> None:
        self.store.settle(receipt, costs)
        if isinstance(self.store, RedisCounters | ClusterCounters):
            wait_for_corrections(self.store)


def wait_for_corrections(store: RedisCounters | ClusterCounters) -> None:
    """Wait until a store has sent its corrections. AssertionError after 10 s."""
    deadline = Deadline(10)
    partitions = [store] if isinstance(store, RedisCounters) else list(store.partitions.values())
    while any(len(partition.corrections) for partition in partitions):
        assert not deadline.passed(), "corrections are not sent"
        gevent.sleep(0)


def records_in(path: Path) -> int:
    """The number of records of MemoryCounters at a path."""
    memory = attach(path, 1 << 20)
    with memory.begin() as txn:
        count = int(txn.stat()["entries"])
    detach(memory)
    return count


@contextmanager
def folder() -> Iterator[Path]:
    """A path for MemoryCounters, in shared memory where there is some."""
    shm = Path("/dev/shm")
    root = Path(tempfile.mkdtemp(prefix="modelway-test-", dir=shm if shm.is_dir() else None))
    try:
        yield root / "counters"
    finally:
        shutil.rmtree(root, ignore_errors=True)


@contextmanager
def open_store(place: Path | str) -> Iterator[Counters]:
    """A store as a worker has it: in memory at a path, or in Redis at a URL."""
    store = RedisCounters(place) if isinstance(place, str) else MemoryCounters(place)
    try:
        yield store
    finally:
        store.close()


def remaining_of(store: Counters, limits: Sequence[Limit]) -> list[int]:
    """The remaining amount of each limit; nothing is taken."""
    unlimited_slots = [Limit(limit.key, limit.amount, limit.window, 0) for limit in limits]
    return take(store, unlimited_slots).remaining


class Worker:
    """A process that runs a module of tests.support; it starts its work with `go`."""

    def __init__(self, module: str, place: Path | str, *arguments: str | int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"tests.support.{module}", str(place), *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            start_new_session=True,
        )

    def go(self) -> None:
        """Wait until the worker is ready, and let it begin."""
        assert self._process.stdout is not None
        assert self._process.stdin is not None
        assert self._process.stdout.readline() == "ready\n"
        self._process.stdin.write("go\n")
        self._process.stdin.flush()

    def says(self) -> Any:
        """The next JSON value that it prints; pytest's timeout bounds the wait."""
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def kill(self) -> None:
        """Kill it and its children."""
        if self._process.returncode is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.communicate()


@contextmanager
def workers(
    count: int, place: Path | str, *arguments: str | int, module: str = "counting"
) -> Iterator[list[Worker]]:
    """Workers that begin one right after the other."""
    processes = [Worker(module, place, *arguments) for _ in range(count)]
    try:
        for worker in processes:
            worker.go()
        yield processes
    finally:
        for worker in processes:
            worker.kill()
