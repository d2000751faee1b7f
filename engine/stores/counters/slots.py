"""Concurrency slots by worker, as a small record of bytes.

A record has the slots of each worker (`engine.machine.worker_counts`). Those of a dead worker are
free: `take` checks which workers are alive if the record is full, or if the worker is not in it.
All functions take and return values.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.machine.worker_counts import PAIR, alive_counts, read, write
from engine.values.counters import SLOT_RETRY, LimitState


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
