"""Counting ahead: under load a worker takes for many requests at once, and shares it out to them.

A take in shared memory costs what hundreds of lines of Python do; one for a hundred requests costs
each of them next to nothing. What a worker has in hand is counted as taken, so that never more than
its amount passes of a limit. Nor does less: a worker takes ahead only while more than half of every
limit is left, and little of that; it gives back within `SPAN` what it has not used, and marks the
limit as long. Who is denied by a limit with a mark asks again until that is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import repeat
from operator import add, mul, sub
from typing import Any

import gevent

from engine.stores.counters import Asked, Limit, State, Taken, made
from engine.stores.counters.forked import in_children
from engine.stores.counters.memory import Memory, clock
from engine.stores.counters.windows import tick_of

SPAN = 0.1
"""Seconds for which a worker has in hand what it took ahead."""
MARKED = 0.25
"""Seconds after which a mark goes by itself, if a worker was killed or had no time: longer than
what is not used may be in hand."""
OFTEN = 0.01
"""Seconds between two requests of those for which it is worth it."""
MOST, FEWEST = 64, 8
"""For how many requests is taken at once."""
_SHARE = 16
"""What is taken ahead is at most so small a part of what is left."""
_PAUSE = 0.02
_ENDLESS = 2**52

_state = partial(made, State)


class _Hand:
    """What is `left` of what was taken of limits for `begins` to `ends` (microseconds). `first` was
    taken with the store's `receipt`; `remaining` and `resets` are the limits' states with all of it
    taken; `last` is when a request took some."""

    __slots__ = ("begins", "ends", "first", "last", "left", "receipt", "remaining", "resets")

    def __init__(self, taken: Taken, first: Sequence[int], begins: int, ends: int) -> None:
        self.receipt, self.first = taken.receipt, first
        self.begins, self.ends, self.last = begins, ends, begins
        self.left: Sequence[int] = [0] * len(first)

    def put(self, more: Sequence[int], states: Sequence[State]) -> None:
        """So much more was taken."""
        self.left = list(map(add, self.left, more))
        self.remaining = [state.remaining for state in states]
        self.resets = [state.reset for state in states]

    def states(self) -> Sequence[State]:
        """What a request is told; `reset` is that of the last time something was taken."""
        return list(map(_state, zip(self.standing(), self.resets, repeat(0.0), strict=False)))

    def standing(self) -> list[int]:
        """What remains of each limit, with what is left of this."""
        return list(map(add, self.remaining, self.left))


class _Known:
    """What is known of limits that are asked together: the same with a mark of each, their ticks,
    what is in hand of them, how they stood when the store was last asked, and when that was."""

    __slots__ = ("hand", "keys", "last", "marked", "remaining", "ticks", "windows")

    def __init__(self, asked: Asked) -> None:
        marks = [Limit(f"ahead|{one.key}", _ENDLESS, MARKED) for one in asked.limits]
        self.marked = Asked([*asked.limits, *marks])
        self.keys = frozenset((one.key, one.window) for one in asked.limits)
        self.windows = [1 if one.window else 0 for one in asked.limits]
        self.ticks = [tick_of(one.window) for one in asked.limits if one.window]
        self.hand: _Hand | None = None
        self.remaining: Sequence[int] = ()
        self.last = 0

    def often(self, asked: Asked, costs: Sequence[int], now: int) -> int:
        """For how many requests to take: 1 where few come, or the end of a limit is near."""
        if not 0 <= now - self.last < OFTEN * 1e6 or not any(costs):
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
        return min([now + round(SPAN * 1e6), *ticks])


class _Receipt:
    """What a request took of a hand; `hand` is None when that is settled."""

    __slots__ = ("costs", "hand", "windows")

    def __init__(self, hand: _Hand, costs: Sequence[int], windows: Sequence[int]) -> None:
        self.hand: _Hand | None = hand
        self.costs, self.windows = costs, windows


class Ahead:
    """The counters `store`, taken from for many requests at once where that is worth it.

    `clock` gives microseconds, the same as the store's.
    """

    def __init__(self, store: Memory, *, clock: Callable[[], int] = clock) -> None:
        self._store, self._clock = store, clock
        self._hands: dict[_Hand, _Known] = {}
        self._timer: Any = None
        in_children(self)

    def take(self, asked: Asked, costs: Sequence[int]) -> Taken:
        known: _Known | None = asked.ahead
        if known is None:
            known = asked.ahead = _Known(asked)
        hand, now = known.hand, self._clock()
        if hand is not None and hand.begins <= now < hand.ends:
            left = list(map(sub, hand.left, costs))
            if min(left) >= 0:
                hand.left, hand.last = left, now
                return made(Taken, (None, hand.states(), _Receipt(hand, costs, known.windows)))
        return self._ask(asked, known, costs, now)

    def settle(self, receipt: object, costs: Sequence[int]) -> None:
        if not isinstance(receipt, _Receipt):
            self._store.settle(receipt, costs)
            return
        hand, receipt.hand = receipt.hand, None
        if hand is None:
            return
        came = map(mul, costs, receipt.windows)
        hand.left = list(map(sub, map(add, hand.left, receipt.costs), came))
        if not hand.ends:
            self._tell(hand)
        elif min(hand.left) < 0:
            self._end(hand)

    def close(self) -> None:
        """Give back all that is in hand, and close the store."""
        for hand in list(self._hands):
            self._end(hand)
        if self._timer is not None:
            self._timer.stop()
        self._store.close()

    def forget(self) -> None:
        """Leave what is in hand to the process that this one was forked from."""
        for hand in self._hands:
            hand.ends, hand.receipt = 0, None
        self._hands.clear()
        self._timer = None

    def _ask(self, asked: Asked, known: _Known, costs: Sequence[int], now: int) -> Taken:
        """Take from the store: ahead or, where that is not for now, for this request alone."""
        hand = known.hand
        if hand is not None:
            known.remaining, known.last = hand.standing(), hand.last
            if not hand.begins <= now < hand.ends:
                known.hand = None
                self._end(hand)
        often = known.often(asked, costs, now)
        if often > 1:
            hand = self._take_ahead(asked, known, [cost * often for cost in costs], now)
            if hand is not None:
                hand.left, hand.last = list(map(sub, hand.left, costs)), now
                return Taken(None, hand.states(), _Receipt(hand, costs, known.windows))
        taken = self._store.take(asked, costs)
        if taken.denied is not None and costs[taken.denied] <= asked.limits[taken.denied].amount:
            taken = self._ask_again(asked.limits[taken.denied], known, costs)
        known.remaining = [state.remaining for state in taken.states]
        known.last = now
        return taken

    def _take_ahead(
        self, asked: Asked, known: _Known, wanted: Sequence[int], now: int
    ) -> _Hand | None:
        """A hand with so much in it; None when there was not so much."""
        count, hand, more = len(wanted), known.hand, wanted
        if hand is None:
            taken = self._store.take(known.marked, [*more, *[1] * count])
        else:
            more = [max(lacking, 0) for lacking in map(sub, wanted, hand.left)]
            taken = self._store.take(asked, more)
        if taken.denied is not None:
            return None
        if hand is None:
            hand = known.hand = _Hand(taken, more, now, known.ends(now))
            self._hands[hand] = known
            self._look_later()
        hand.put(more, taken.states[:count])
        return hand

    def _ask_again(self, denied: Limit, known: _Known, costs: Sequence[int]) -> Taken:
        """Ask until it passes, or nobody has of the limit that denies what may come back."""
        for hand, of in list(self._hands.items()):
            if denied[::2] in of.keys:
                self._end(hand)
        count, until = len(costs), self._clock() + round(MARKED * 1e6)
        while True:
            index, states, receipt = self._store.take(known.marked, [*costs, *[0] * count])
            marked = index is not None and states[count + index].reset > 0
            if not marked or self._clock() >= until:
                return Taken(index, states[:count], receipt)
            gevent.sleep(_PAUSE)

    def _end(self, hand: _Hand) -> None:
        """Give back what is left, and take away the marks."""
        self._hands.pop(hand, None)
        if hand.ends:
            hand.ends = 0
            self._tell(hand)

    def _tell(self, hand: _Hand) -> None:
        """Correct what was taken by what is left; and by less, when more of that comes back."""
        came = list(map(sub, hand.first, hand.left))
        self._store.correct(hand.receipt, came + [0] * len(came))

    def _look_later(self) -> None:
        if self._timer is None:
            self._timer = gevent.get_hub().loop.timer(SPAN / 2, SPAN / 2)
        if not self._timer.active:
            self._timer.start(self._end_the_old)

    def _end_the_old(self) -> None:
        now = self._clock()
        for hand in [one for one in self._hands if not one.begins <= now < one.ends]:
            self._end(hand)
        if not self._hands:
            self._timer.stop()
