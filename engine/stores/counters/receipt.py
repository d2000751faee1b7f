"""Where limits are counted in the memory of a machine, and what a request took there."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from engine.stores.counters import windows
from engine.values.counters import Limit, TakeResult

_LONGEST_NAME = 400

Place = tuple[bytes, int, int]
"""The key of a limit's record, its tick (0 for slots held at a time), and the amount that may be
taken."""


class Receipt:
    """What was taken of which places, when (microseconds), in which database and by which worker;
    but of none of the records in `uncounted`, for which there was no room."""

    __slots__ = ("costs", "file", "places", "time", "uncounted", "worker")

    def __init__(
        self,
        places: Sequence[Place],
        costs: Sequence[int],
        time: int,
        file: tuple[int, int],
        worker: int,
    ) -> None:
        self.places, self.costs, self.time = places, costs, time
        self.file, self.worker = file, worker
        self.uncounted: frozenset[bytes] = frozenset()

    def goes_with(self, other: Receipt) -> bool:
        """Whether what `other` took can be corrected as if this one had: all of it is counted, in
        the same buckets, in the same database, for the same worker."""
        return (
            not other.uncounted
            and (self.file, self.worker) == (other.file, other.worker)
            and all(self.time // tick == other.time // tick for _, tick, _ in other.places if tick)
        )


def whole(taken: TakeResult) -> bool:
    """Whether it passed, and all of it is counted."""
    return isinstance(taken.receipt, Receipt) and not taken.receipt.uncounted


def place(limit: Limit) -> Place:
    """Where a limit is counted."""
    tick = windows.tick_of(limit.window) if limit.window else 0
    name = limit.key.encode()
    if len(name) > _LONGEST_NAME:  # LMDB takes 511 bytes
        name = hashlib.blake2b(name, digest_size=32).digest()
    return tick.to_bytes(8, "big") + name, tick, limit.amount
