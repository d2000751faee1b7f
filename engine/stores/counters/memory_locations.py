"""Where the records of limits are in the shared memory."""

from __future__ import annotations

import hashlib
from functools import lru_cache

from engine.stores.counters import windows
from engine.values.calendar import Calendar
from engine.values.counters import Limit

_MAX_NAME = 400
"""Bytes of a key that are stored as they are: LMDB takes 511."""
CALENDAR = b"\xfe" * 8
"""Begins the key of a record of `calendars`; others begin with their tick."""

Location = tuple[bytes, int, int, Calendar | None]
"""The key of a limit's record, its tick in microseconds (0 for slots and calendars), its amount,
and its calendar."""


@lru_cache(maxsize=4096)
def locations_of(limits: tuple[Limit, ...]) -> tuple[Location, ...]:
    """Where the records of these limits are."""
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
    """Whether the limit is of slots: an amount at one time."""
    return not location[1] and location[3] is None
