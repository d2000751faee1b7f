"""Bounds how many names callers can make up: `NameTables`.

The law: a worker lets at most MAX_NAMES names of one place (a header, say) have counts of their own
at a time. A name keeps its room for as long as the longest window of the limits by this place,
after its last request. Names for which there is no room share one count, OTHERS, until there is.
So the names of a worker, and what stores keep of them, are bounded; no name has more than its
amount under its own name and, together with all others without room, one amount more.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable

from engine.values.quota_sharers import NOBODY, OTHERS

MAX_NAMES = 10_000
MIN_AGE = 60.0


class NameTable:
    """The names of one place that have counts of their own. `age` is in seconds."""

    def __init__(self, size: int, clock: Callable[[], float]) -> None:
        self.age = MIN_AGE
        self.refused = 0
        self._size = size
        self._clock = clock
        self._names: OrderedDict[str, float] = OrderedDict()

    def __len__(self) -> int:
        return len(self._names)

    def admit(self, name: str) -> str:
        """The name, or OTHERS if there is no room for it."""
        names, now = self._names, self._clock()
        if name in names:
            names.move_to_end(name)
        elif name == NOBODY:
            return name
        elif len(names) >= self._size and not self._make_room(now):
            self.refused += 1
            return OTHERS
        names[name] = now
        return name

    def _make_room(self, now: float) -> bool:
        """Drop the names whose last request is longer ago than `age`."""
        names = self._names
        while names and now - next(iter(names.values())) > self.age:
            names.popitem(last=False)
        return len(names) < self._size


class NameTables:
    """The tables of a worker, one for each place."""

    def __init__(self, size: int = MAX_NAMES, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = size
        self._clock = clock
        self._tables: dict[Hashable, NameTable] = {}

    def of(self, place: Hashable, age: float) -> NameTable:
        """The table of a place, for a limit whose window has `age` seconds."""
        table = self._tables.setdefault(place, NameTable(self._size, self._clock))
        table.age = max(table.age, age)
        return table
