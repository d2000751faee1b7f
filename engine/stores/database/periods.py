"""The periods whose sums the ledger stores, and the division of a time range into periods."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil, floor

HOUR = 3600
DAY = 24 * HOUR
MONTH = 32 * DAY
PERIODS = (HOUR, DAY, MONTH)
"""The length of each kind of period in seconds. All begin at whole multiples since 1970, so that
each consists of whole periods of the kind before it."""

TAG_PERIODS = (DAY, 8 * DAY)
"""The lengths of the periods of the sums of tags, of which callers ask for at most 92 days."""


@dataclass(slots=True)
class Pieces:
    """A time range divided into parts that do not overlap: `rows` (from, until) are read from the
    rows, `sums` (length of the period, from, until) from the sums of all periods in them."""

    rows: list[tuple[float, float]] = field(default_factory=list)
    sums: list[tuple[int, int, int]] = field(default_factory=list)

    def add(self, period: int, start: int, end: int) -> None:
        if start < end:
            self.sums.append((period, start, end))


def pieces(since: float, until: float, complete_from: float = 0.0, longest: int = MONTH) -> Pieces:
    """The range [since, until) divided into whole periods of at most `longest` seconds, and rows at
    both ends. Sums from before `complete_from` are not used.
    """
    start = round_up(max(since, complete_from), HOUR)
    end = floor(until / HOUR) * HOUR
    if start >= end:
        return Pieces([(since, until)])
    parts = Pieces([part for part in ((since, start), (end, until)) if part[0] < part[1]])
    for period, longer in pairwise(PERIODS):
        inner = round_up(start, longer), end // longer * longer
        if longer > longest or inner[0] >= inner[1]:
            parts.add(period, start, end)
            return parts
        parts.add(period, start, inner[0])
        parts.add(period, inner[1], end)
        start, end = inner
    parts.add(MONTH, start, end)
    return parts


def round_up(time: float, period: int) -> int:
    """The start of the first period that does not begin before a time."""
    return ceil(time / period) * period
