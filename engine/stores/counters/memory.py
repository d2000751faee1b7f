"""Counters in the shared memory of one machine: exact across all its workers, without a server.

Each `take` and each `settle` is one transaction of the LMDB database of `shared_memory`. Expired
records are deleted a few at a time, when new ones are made. If there is no room for a new record,
requests pass its limit uncounted, which is logged once a minute.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType

import lmdb
from msgspec import Struct

from engine.machine.shared_memory import (
    WORKER_NUMBER,
    Attachment,
    SharedMemory,
    Transaction,
)
from engine.machine.worker_counts import alive_counts, read
from engine.process.log_throttle import LogThrottle
from engine.process.runtime_dir import prepare
from engine.stores.counters import calendars, limit_records, windows
from engine.stores.counters.limit_records import CALENDAR, Location, is_slots, locations_of
from engine.values.calendar import Calendar, CalendarWindows
from engine.values.counters import CountersAway, Limit, LimitState, TakeResult, refusal

SIZE = 256 << 20
_SWEEP_COUNT, _SWEEP_COUNT_WHEN_FULL = 2, 100
"""The records that are visited for each new one. With two, a third more are stored than count: a
quarter of all has expired and waits for its turn."""
_NO_STARTS: Mapping[bytes, int] = MappingProxyType({})
_CLOCK = getattr(time, "CLOCK_BOOTTIME", None) or time.CLOCK_REALTIME


def clock() -> int:
    """Microseconds of a clock that all processes of a machine share, monotonic if the system has
    one."""
    return time.clock_gettime_ns(_CLOCK) // 1000


def wall_clock() -> int:
    """Unix microseconds."""
    return time.time_ns() // 1000


class _MemoryReceipt(Struct):
    """The costs that a request took at `time` (microseconds), with the database `file` and the
    worker. Nothing was taken of the records in `uncounted`, for which there was no room. `starts`
    are those of the calendars' windows, by the key of their record. `locations` is () after
    `settle`."""

    locations: Sequence[Location]
    costs: Sequence[int]
    time: int
    file: tuple[int, int]
    worker: int
    uncounted: frozenset[bytes] = frozenset()
    starts: Mapping[bytes, int] = _NO_STARTS


class MemoryCounters:
    """Counters in the folder `path`; a worker opens them with its first `take`.

    Raises PermissionError when others may write to the folder. `clock` gives microseconds,
    `wall_clock` those of the calendar, `size` is the upper bound of the memory, in bytes.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Callable[[], int] = clock,
        wall_clock: Callable[[], int] = wall_clock,
        size: int = SIZE,
    ) -> None:
        self._path, self._clock, self._size = path, clock, size
        self._wall_clock, self._windows = wall_clock, CalendarWindows()
        self._attachment = Attachment(path, size)
        self._throttle = LogThrottle()
        self._swept_to = b""
        self._full = False
        prepare(path)

    def take(self, limits: tuple[Limit, ...], costs: Sequence[int]) -> TakeResult:
        locations = locations_of(limits)
        try:
            memory = self._attachment.memory()
            with memory.begin() as txn:
                result = self._take(memory, txn, locations, costs)
        except lmdb.MapFullError:
            self._full = True
            amounts = [limit.amount for limit in limits]
            result = TakeResult(None, amounts, [0.0] * len(amounts))
        except lmdb.Error as error:
            raise CountersAway(f"{self._path}: {error}") from error
        except OSError as error:
            raise CountersAway(str(error)) from error
        if self._full:  # logged after the transaction, because other workers wait for its end
            self._full = False
            self._warn(f"counters are full ({self._size} bytes), some requests pass uncounted")
        return result

    def settle(self, receipt: object, costs: Sequence[int]) -> None:
        if not isinstance(receipt, _MemoryReceipt) or not receipt.locations:
            return
        corrections = [
            (location, change)
            for location, amount_taken, cost in zip(
                receipt.locations, receipt.costs, costs, strict=True
            )
            if (change := (0 if is_slots(location) else cost) - amount_taken)
            and location[0] not in receipt.uncounted
        ]
        receipt.locations = ()
        if not corrections:
            return
        try:
            memory = self._attachment.memory()
            if memory.file == receipt.file:  # another database has not counted the request
                with memory.begin() as txn:
                    self._correct(memory, txn, receipt, corrections)
        except (OSError, lmdb.Error) as error:
            self._warn(f"the costs of a request are not corrected: {error}")

    def close(self) -> None:
        self._attachment.close()

    def _take(
        self,
        memory: SharedMemory,
        txn: Transaction,
        locations: Sequence[Location],
        costs: Sequence[int],
    ) -> TakeResult:
        # Read within the transaction, so that the time of a record never decreases.
        now = self._clock()
        receipt = _MemoryReceipt(locations, costs, now, memory.file, memory.worker)
        remaining: list[int] = []
        resets: list[float] = []
        previous: list[tuple[bytes, bytes | None]] = []
        for (key, tick, amount, calendar), cost in zip(locations, costs, strict=True):
            record = txn.get(key)
            if record is None and (key in receipt.uncounted or not self._room(memory, txn, now)):
                receipt.uncounted |= {key}
                remaining.append(amount)
                resets.append(0.0)
                continue
            update: tuple[bytes | None, int, float] | None
            if tick:
                update = windows.take(record, amount, cost, tick, now)
            elif calendar is not None:
                window = self._window(calendar)
                update = calendars.take(record, amount, cost, *window)
                if update is not None:
                    start = calendars.start_of(update[0], *window)
                    receipt.starts = {**receipt.starts, key: start}
            else:
                update = limit_records.take(record, amount, cost, memory.worker, memory.alive)
            if update is None:
                _restore(txn, previous)
                return refusal(len(resets), self._states(memory, txn, locations, costs, now))
            previous.append((key, record))
            new_record, available, reset = update
            if new_record is not None:
                txn.put(key, new_record)
            remaining.append(available)
            resets.append(reset)
        return TakeResult(None, remaining, resets, receipt)

    def _states(
        self,
        memory: SharedMemory,
        txn: Transaction,
        locations: Sequence[Location],
        costs: Sequence[int],
        now: int,
    ) -> list[LimitState]:
        states = []
        for (key, tick, amount, calendar), cost in zip(locations, costs, strict=True):
            record = txn.get(key)
            if tick:
                adjusted = windows.set_back(record, now // tick)
                if adjusted is not None:
                    txn.put(key, adjusted)
                states.append(windows.look(record, amount, cost, tick, now))
            elif calendar is not None:
                states.append(calendars.look(record, amount, cost, *self._window(calendar)))
            else:
                states.append(limit_records.look(record, amount, cost, memory.alive))
        return states

    def _correct(
        self,
        memory: SharedMemory,
        txn: Transaction,
        receipt: _MemoryReceipt,
        corrections: Sequence[tuple[Location, int]],
    ) -> None:
        now = self._clock()
        for location, change in corrections:
            key, tick, _, calendar = location
            record = txn.get(key)
            if record is None and (change < 0 or not self._room(memory, txn, now)):
                continue
            if tick:
                new_record = windows.correct(record, now // tick, receipt.time // tick, change)
            elif calendar is not None:
                start = receipt.starts[key]
                new_record = calendars.correct(record, *self._window(calendar), start, change)
            else:
                new_record = limit_records.give_back(record, receipt.worker, -change)
            if new_record is not None:
                txn.put(key, new_record)
            elif record is not None:
                txn.delete(key)

    def _window(self, calendar: Calendar) -> tuple[calendars.Window, int]:
        """The current window of a calendar, and the time."""
        now = self._wall_clock()
        return self._windows.around(calendar, now)[1:3], now

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
            if key == WORKER_NUMBER:
                continue
            if key.startswith(CALENDAR):
                expired = calendars.is_expired(record, self._wall_clock())
            elif tick := int.from_bytes(key[:8], "big"):
                adjusted = windows.sweep(record, now // tick)
                if adjusted is not None and adjusted is not record:
                    txn.put(key, adjusted)
                expired = adjusted is None
            else:
                expired = not alive_counts(read(record), memory.alive)
            if expired:
                txn.delete(key)

    def _warn(self, message: str) -> None:
        self._throttle.log("counters in %s: %s", self._path, message)


def _restore(txn: Transaction, previous: Sequence[tuple[bytes, bytes | None]]) -> None:
    """Write records back in reverse order, so that a key written twice gets its first record."""
    for key, record in reversed(previous):
        if record is None:
            txn.delete(key)
        else:
            txn.put(key, record)
