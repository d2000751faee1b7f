"""Counters in the shared memory of one machine: exact across all its workers, without a server.

Each `take` and each `settle` is one transaction of the LMDB database of `shared_memory`. Expired
records are deleted a few at a time, when new ones are made. When there is no room for a new record,
its limit passes uncounted, and the log says so once a minute.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

import lmdb

from engine.stores.counters import slots, windows
from engine.stores.counters.shared_memory import (
    WORKER_NUMBER,
    SharedMemory,
    Transaction,
    attach,
    detach,
)
from engine.values.counters import CountersAway, Limit, LimitState, TakeResult, refusal
from engine.values.runtime_dir import prepare
from engine.values.throttle import LogThrottle

SIZE = 256 << 20
_SWEEP_COUNT, _SWEEP_COUNT_WHEN_FULL = 4, 100
_CHECK_INTERVAL = 1.0
"""Seconds between two checks that the database is still the one at its path."""
_MAX_NAME = 400
"""Bytes of a key that are stored as they are: LMDB takes 511."""
_CLOCK = getattr(time, "CLOCK_BOOTTIME", None) or time.CLOCK_REALTIME

Location = tuple[bytes, int, int]
"""The key of a limit's record, its tick in microseconds (0 for slots), and its amount."""


def clock() -> int:
    """Microseconds of a clock that all processes of a machine share; monotonic where the system has
    such a clock."""
    return time.clock_gettime_ns(_CLOCK) // 1000


@lru_cache(maxsize=4096)
def _locations_of(limits: tuple[Limit, ...]) -> tuple[Location, ...]:
    """Where the records of these limits are."""
    return tuple(_location(limit) for limit in limits)


def _location(limit: Limit) -> Location:
    tick = windows.tick_of(limit.window) if limit.window else 0
    name = limit.key.encode()
    if len(name) > _MAX_NAME:
        name = hashlib.blake2b(name, digest_size=32).digest()
    return tick.to_bytes(8, "big") + name, tick, limit.amount


class _MemoryReceipt:
    """What a request took at `time` (microseconds), in which database and by which worker; nothing
    of the records in `uncounted`, for which there was no room. `locations` is () once settled."""

    __slots__ = ("costs", "file", "locations", "time", "uncounted", "worker")

    def __init__(
        self,
        locations: Sequence[Location],
        costs: Sequence[int],
        time: int,
        file: tuple[int, int],
        worker: int,
    ) -> None:
        self.locations, self.costs, self.time = locations, costs, time
        self.file, self.worker = file, worker
        self.uncounted: frozenset[bytes] = frozenset()


class MemoryCounters:
    """Counters in the folder `path`; a worker opens them with its first `take`.

    Raises PermissionError when others may write to the folder. `clock` gives microseconds, `size`
    is the upper bound of the memory, in bytes.
    """

    def __init__(self, path: Path, *, clock: Callable[[], int] = clock, size: int = SIZE) -> None:
        self._path, self._clock, self._size = path, clock, size
        self._memory: SharedMemory | None = None
        self._next_check = 0.0
        self._throttle = LogThrottle()
        self._swept_to = b""
        self._full = False
        prepare(path)

    def take(self, limits: tuple[Limit, ...], costs: Sequence[int]) -> TakeResult:
        memory, locations = self._attached(), _locations_of(limits)
        try:
            with memory.begin() as txn:
                result = self._take(memory, txn, locations, costs)
        except lmdb.MapFullError:
            self._full = True
            amounts = [limit.amount for limit in limits]
            result = TakeResult(None, amounts, [0.0] * len(amounts))
        except lmdb.Error as error:
            raise CountersAway(f"{self._path}: {error}") from error
        if self._full:  # logged after the transaction, for which other workers wait
            self._full = False
            self._warn(f"counters are full ({self._size} bytes), some requests pass uncounted")
        return result

    def settle(self, receipt: object, costs: Sequence[int]) -> None:
        if not isinstance(receipt, _MemoryReceipt) or not receipt.locations:
            return
        corrections = [
            (key, tick, change)
            for (key, tick, _), amount_taken, cost in zip(
                receipt.locations, receipt.costs, costs, strict=True
            )
            if (change := (cost if tick else 0) - amount_taken) and key not in receipt.uncounted
        ]
        receipt.locations = ()
        if not corrections:
            return
        try:
            memory = self._attached()
            if memory.file == receipt.file:  # another database has not counted the request
                with memory.begin() as txn:
                    self._correct(memory, txn, receipt, corrections)
        except (lmdb.Error, CountersAway) as error:
            self._warn(f"the costs of a request are not corrected: {error}")

    def close(self) -> None:
        if self._memory is not None:
            detach(self._memory)
            self._memory = None

    def _take(
        self,
        memory: SharedMemory,
        txn: Transaction,
        locations: Sequence[Location],
        costs: Sequence[int],
    ) -> TakeResult:
        # The clock is read within the transaction, so that time never runs backwards in a record.
        now = self._clock()
        receipt = _MemoryReceipt(locations, costs, now, memory.file, memory.worker)
        remaining: list[int] = []
        resets: list[float] = []
        previous: list[tuple[bytes, bytes | None]] = []
        for (key, tick, amount), cost in zip(locations, costs, strict=True):
            record = txn.get(key)
            if record is None and (key in receipt.uncounted or not self._room(memory, txn, now)):
                receipt.uncounted |= {key}
                remaining.append(amount)
                resets.append(0.0)
                continue
            if tick:
                update = windows.take(record, amount, cost, tick, now)
            else:
                update = slots.take(record, amount, cost, memory.worker, memory.alive)
            if update is None:
                _restore(txn, previous)
                return refusal(len(resets), _states(memory, txn, locations, costs, now))
            previous.append((key, record))
            new_record, available, reset = update
            txn.put(key, new_record)
            remaining.append(available)
            resets.append(reset)
        return TakeResult(None, remaining, resets, receipt)

    def _correct(
        self,
        memory: SharedMemory,
        txn: Transaction,
        receipt: _MemoryReceipt,
        corrections: Sequence[tuple[bytes, int, int]],
    ) -> None:
        now = self._clock()
        for key, tick, change in corrections:
            record = txn.get(key)
            if record is None and (not tick or change < 0 or not self._room(memory, txn, now)):
                continue
            if tick:
                new_record = windows.correct(record, now // tick, receipt.time // tick, change)
            else:
                new_record = slots.give_back(record, receipt.worker, -change)
            if new_record is not None:
                txn.put(key, new_record)
            elif record is not None:
                txn.delete(key)

    def _room(self, memory: SharedMemory, txn: Transaction, now: int) -> bool:
        """Whether there is room for a new record, after deleting some expired ones."""
        for count in (_SWEEP_COUNT, _SWEEP_COUNT_WHEN_FULL):
            self._sweep(memory, txn, now, count)
            if memory.has_room(txn):
                return True
        self._full = True
        return False

    def _sweep(self, memory: SharedMemory, txn: Transaction, now: int, count: int) -> None:
        """Visit the next `count` records, and delete the expired ones."""
        cursor = txn.cursor()
        if not cursor.set_range(self._swept_to) and not cursor.first():
            return
        records = list(islice(cursor.iternext(), count))
        self._swept_to = records[-1][0] + b"\0" if len(records) == count else b""
        for key, record in records:
            tick = int.from_bytes(key[:8], "big")
            if key == WORKER_NUMBER:
                continue
            if tick:
                adjusted = windows.set_back(record, now // tick)
                if adjusted is not None:
                    txn.put(key, adjusted)
                expired = not windows.read(record, now // tick)[0]
            else:
                expired = not slots.living(slots.read(record), memory.alive)
            if expired:
                txn.delete(key)

    def _attached(self) -> SharedMemory:
        memory, now = self._memory, time.monotonic()
        if memory is not None and memory.usable:
            if now < self._next_check:
                return memory
            self._next_check = now + _CHECK_INTERVAL
            if memory.is_current():
                return memory
        self._memory = None
        try:
            self._memory = attach(self._path, self._size)
        except (OSError, lmdb.Error) as error:
            raise CountersAway(str(error)) from error
        return self._memory

    def _warn(self, message: str) -> None:
        self._throttle.log("counters in %s: %s", self._path, message)


def _restore(txn: Transaction, previous: Sequence[tuple[bytes, bytes | None]]) -> None:
    """Write records back in reverse order, so that a key written twice gets its first record."""
    for key, record in reversed(previous):
        if record is None:
            txn.delete(key)
        else:
            txn.put(key, record)


def _states(
    memory: SharedMemory,
    txn: Transaction,
    locations: Sequence[Location],
    costs: Sequence[int],
    now: int,
) -> list[LimitState]:
    states = []
    for (key, tick, amount), cost in zip(locations, costs, strict=True):
        record = txn.get(key)
        if tick:
            adjusted = windows.set_back(record, now // tick)
            if adjusted is not None:
                txn.put(key, adjusted)
            states.append(windows.look(record, amount, cost, tick, now))
        else:
            states.append(slots.look(record, amount, cost, memory.alive))
    return states
