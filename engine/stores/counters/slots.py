"""How many slots are held at a time, and by which workers: a small record, as bytes.

A record is a pair of uint64 for each worker that holds something: its number, how many it holds.
A worker that is gone holds nothing: whoever finds a record full, or comes to it for the first time,
asks who still lives. All functions take and return values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from struct import Struct

from engine.values.counters import HELD_AGAIN, State

PAIR = Struct("<QQ")


def read(record: bytes | None) -> dict[int, int]:
    """Slots held, by the number of the worker."""
    return dict(PAIR.iter_unpack(record)) if record else {}


def write(held: Mapping[int, int]) -> bytes:
    """The record of what is held."""
    return b"".join([PAIR.pack(worker, count) for worker, count in held.items()])


def living(held: Mapping[int, int], alive: Callable[[int], bool]) -> dict[int, int]:
    """Those that hold something and are alive."""
    return {worker: count for worker, count in held.items() if count and alive(worker)}


def take(
    record: bytes | None, amount: int, cost: int, worker: int, alive: Callable[[int], bool]
) -> tuple[bytes, int, float] | None:
    """The record after a worker took some slots, what is left, and 0.0 as `windows.take` has it;
    None when that is denied."""
    need = cost or 1
    if record is not None and len(record) == PAIR.size:
        holder, count = PAIR.unpack(record)
        if holder == worker and count + need <= amount:  # as nearly always on one worker
            count += cost
            return PAIR.pack(worker, count), amount - count, 0.0
    held = read(record)
    if worker not in held or sum(held.values()) + need > amount:
        held = living(held, alive)
    left = amount - sum(held.values())
    if left < need:
        return None
    held[worker] = held.get(worker, 0) + cost
    return write(held), left - cost, 0.0


def look(record: bytes | None, amount: int, cost: int, alive: Callable[[int], bool]) -> State:
    """How a limit stands when nothing is taken of it: `wait` says whether `cost` would pass."""
    left = amount - sum(living(read(record), alive).values())
    return State(max(left, 0), 0.0, 0.0 if left >= (cost or 1) else HELD_AGAIN)


def give_back(record: bytes, worker: int, count: int) -> bytes:
    """The record without `count` slots of a worker. Kept when empty: the next take is near."""
    if record == PAIR.pack(worker, count):  # the last one of a worker alone
        return PAIR.pack(worker, 0)
    held = read(record)
    held[worker] = max(held.get(worker, 0) - count, 0)
    return write(held)
