"""What a worker has in hand of limits that are asked together, and what it knows of them."""

from __future__ import annotations

from collections.abc import Sequence
from operator import add

from engine.stores.counters.windows import tick_of
from engine.values.counters import CounterKeys, Limit, TakeResult

SPAN = 0.1
"""Seconds for which a worker has in hand what it took ahead."""
MARKED = 0.25
"""Seconds after which a mark goes by itself, if a worker was killed or had no time: longer than
what is not used may be in hand."""
OFTEN = 0.01
"""Seconds between two requests of those for which it is worth it."""
MOST, FEWEST = 64, 8
"""For how many requests is taken at once."""
ENDLESS = 2**52
"""What may be marked."""
_SHARE = 16
"""What is taken ahead is at most so small a part of what is left."""
_SPAN, _OFTEN = round(SPAN * 1e6), round(OFTEN * 1e6)


class Hand:
    """What was taken of limits for `begins` to `ends` (microseconds; 0 when it is over), and how
    much of that is `left`. `receipt` is the store's, `marked` for how much there are marks;
    `remaining` and `resets` are how the limits stand with all of it taken (`resets` as of the last
    time something was); `last` is when a request took some."""

    __slots__ = (
        "begins",
        "ends",
        "granted",
        "known",
        "last",
        "left",
        "marked",
        "receipt",
        "remaining",
        "resets",
    )

    def __init__(self, known: Known, taken: TakeResult, wanted: Sequence[int], now: int) -> None:
        self.known, self.receipt, self.marked = known, taken.receipt, wanted
        self.begins = self.last = now
        self.ends = known.ends(now)
        self.granted = self.left = [0] * len(wanted)
        self.put(wanted, taken)

    def put(self, more: Sequence[int], taken: TakeResult) -> None:
        """So much more was taken."""
        self.granted = list(map(add, self.granted, more))
        self.left = list(map(add, self.left, more))
        self.remaining = taken.remaining[: len(more)]
        self.resets = taken.resets[: len(more)]

    def standing(self) -> list[int]:
        """What remains of each limit, with what is left of this."""
        return list(map(add, self.remaining, self.left))


class Known:
    """What is known of limits that are asked together: the same with a mark of each, their ticks
    (microseconds; `short` where one is too short to have anything in hand), what is in hand of
    them, how they stood when they were asked last, when that was, and whether they were denied."""

    __slots__ = (
        "denied",
        "hand",
        "keys",
        "last",
        "marked",
        "remaining",
        "short",
        "ticks",
        "windows",
    )

    def __init__(self, asked: CounterKeys) -> None:
        marks = [Limit(f"ahead|{one.key}", ENDLESS, MARKED) for one in asked.limits]
        self.marked = CounterKeys([*asked.limits, *marks])
        self.keys = frozenset((one.key, one.window) for one in asked.limits)
        self.windows = [1 if one.window else 0 for one in asked.limits]
        self.ticks = [tick_of(one.window) for one in asked.limits if one.window]
        self.short = min(self.ticks, default=_OFTEN) < _OFTEN
        self.hand: Hand | None = None
        self.remaining: Sequence[int] = ()
        self.last = -(10**18)
        self.denied = False

    def often(self, asked: CounterKeys, costs: Sequence[int], now: int) -> int:
        """For how many requests to take: 1 where few come, or the end of a limit is near."""
        if not 0 <= now - self.last < _OFTEN or not any(costs) or self.short:
            return 1
        often = MOST
        for limit, left, cost in zip(asked.limits, self.remaining, costs, strict=True):
            if left * 2 < limit.amount:
                return 1
            often = min(often, left // (cost * _SHARE or 1))
        return often if often >= FEWEST else 1

    def ends(self, now: int) -> int:
        """Until when to have something in hand: a window counts by its ticks."""
        ticks = [(now // tick + 1) * tick for tick in self.ticks]
        return min([now + _SPAN, *ticks])
