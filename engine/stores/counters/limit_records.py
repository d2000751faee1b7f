"""The records of limits in shared memory: their keys, and the bytes of concurrency slots.

A record has the slots of each worker (`engine.machine.worker_counts`). Those of a dead worker are
free: `take` checks which workers are alive if the record is full, or if the worker is not in it.
All functions take and return values.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache

from engine.machine.worker_counts import PAIR, alive_counts, read, write
from engine.stores.counters import windows
from engine.values.calendar import Calendar
from engine.values.counters import SLOT_RETRY, Limit, LimitState

_MAX_NAME = 400
"""The longest name in bytes that is stored unhashed; LMDB's keys have at most 511 bytes."""
CALENDAR = b"\xfe" * 8
"""The prefix of the keys of `calendars`; other keys begin with their tick."""

Location = tuple[bytes, int, int, Calendar | None]
"""The key of a limit's record, its tick in microseconds (0 for slots and calendars), its amount,
and its calendar."""


@lru_cache(maxsize=4096)
def locations_of(limits: tuple[Limit, ...]) -> tuple[Location, ...]:
    """The locations of the records of these limits."""
    return tuple(_location(limit) for limit in limits)


def _location(limit: Limit) -> Location:
    name = limit.key.encode()
    if len(name) > _MAX_NAME:
        name = hashlib.blake2b(name, digest_size=32).digest()
    if isinstance(limit.window, Calendar):
        key = CALENDAR + limit.window.period.encode() + b":" + name
        return key, 0, limit.amount, limit.window
    tick = windows.tick_of(limit.window) if limit.window else 0
    return tick.to_bytes(8, "big") + name, tick, limit.amount, None


def is_slots(location: Location) -> bool:
    """Whether the limit is one of concurrency slots, without a window."""
    return not location[1] and location[3] is None


def take(
    record: bytes | None, amount: int, cost: int, worker: int, alive: Callable[[int], bool]
) -> tuple[bytes, int, float] | None:
    """The record after a worker took slots, the slots left, and a reset of 0.0 seconds, like
    `windows.take`; None if the limit denies."""
    need = cost or 1
    if record is not None and len(record) == PAIR.size:
        holder, count = PAIR.unpack(record)
        if holder == worker and count + need <= amount:  # the usual case with one worker
            count += cost
            return PAIR.pack(worker, count), amount - count, 0.0
    counts = read(record)
    if worker not in counts or sum(counts.values()) + need > amount:
        counts = alive_counts(counts, alive)
    free = amount - sum(counts.values())
    if free < need:
        return None
    counts[worker] = counts.get(worker, 0) + cost
    return write(counts), free - cost, 0.0


def look(record: bytes | None, amount: int, cost: int, alive: Callable[[int], bool]) -> LimitState:
    """The state of a limit without taking; `wait` is 0 if `cost` would pass."""
    free = amount - sum(alive_counts(read(record), alive).values())
    return LimitState(max(free, 0), 0.0, 0.0 if free >= (cost or 1) else SLOT_RETRY)


def give_back(record: bytes, worker: int, count: int) -> bytes:
    """The record without `count` slots of a worker. An empty record is kept, because the next take
    is likely to be soon."""
    if record == PAIR.pack(worker, count):  # the last slots of the only worker
        return PAIR.pack(worker, 0)
    counts = read(record)
    counts[worker] = max(counts.get(worker, 0) - count, 0)
    return write(counts)
