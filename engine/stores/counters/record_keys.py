"""The keys of limits' records in shared memory."""

from __future__ import annotations

import hashlib
from functools import lru_cache

from engine.stores.counters import windows
from engine.values.calendar import Calendar
from engine.values.counters import Limit

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
