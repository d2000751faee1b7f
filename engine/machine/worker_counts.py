"""What each worker holds of something, as bytes: a pair of uint64 for each, its number and a count.

What a dead worker holds is free. All functions take and return values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from struct import Struct

PAIR = Struct("<QQ")


def read(record: bytes | None) -> dict[int, int]:
    """The counts, by the number of the worker."""
    return dict(PAIR.iter_unpack(record)) if record else {}


def write(counts: Mapping[int, int]) -> bytes:
    """The record of these counts."""
    return b"".join([PAIR.pack(worker, count) for worker, count in counts.items()])


def alive_counts(counts: Mapping[int, int], alive: Callable[[int], bool]) -> dict[int, int]:
    """The counts of workers that are alive, without those of 0."""
    return {worker: count for worker, count in counts.items() if count and alive(worker)}
