"""Counting ahead: under load a worker takes for many requests at once, and shares it out to them.

A take in shared memory costs what hundreds of lines of Python do; one for 64 requests costs each of
them next to nothing. What a worker has in hand is counted as taken, so that never more than its
amount passes of a limit. Nor does less: a worker takes ahead only while, as it last saw, more than
half of every limit is left, and little of that; what it has not used it gives back half a `SPAN`
after its end at the latest; and marks tell the others how much that may be. Who is denied asks
again as long as what he lacks may come back. (A cost of 0 passes with what is in hand.)
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from operator import add, gt, mul, sub
from typing import Any
from weakref import WeakSet

import gevent

from engine.stores.counters.hand import (
    ENDLESS,
    MARKED,
    SPAN,
    Hand,
    Known,
)
from engine.stores.counters.memory import Memory, clock
from engine.stores.counters.receipt import whole
from engine.values.counters import CounterKeys, TakeResult, made

_PAUSE = 0.02
"""Seconds after which to ask again for what may come back."""


class Ahead:
    """The counters `store`, taken from for many requests at once where that is worth it.

    `clock` gives microseconds, the same as the store's. A receipt for what was in hand is a list of
    the hand and what was taken of it, empty once that is settled: an object takes longer to make.
    """

    def __init__(self, store: Memory, *, clock: Callable[[], int] = clock) -> None:
        self._store, self._clock = store, clock
        self._hands: set[Hand] = set()
        self._timer: Any = None
        _all.add(self)

    def take(self, asked: CounterKeys, costs: Sequence[int]) -> TakeResult:
        known: Known | None = asked.ahead
        if known is None:
            known = asked.ahead = Known(asked)
        hand, now = known.hand, self._clock()
        if hand is not None and hand.begins <= now < hand.ends:
            left = list(map(sub, hand.left, costs))
            if min(left) >= 0:
                hand.left, hand.last = left, now
                standing = list(map(add, hand.remaining, left))
                return made(TakeResult, (None, standing, hand.resets, [hand, costs], ()))
        return self._ask(asked, known, costs, now)

    def settle(self, receipt: object, costs: Sequence[int]) -> None:
        if type(receipt) is not list:
            self._store.settle(receipt, costs)
            return
        if not receipt:
            return
        hand, taken = receipt
        receipt.clear()
        came = map(mul, costs, hand.known.windows)
        hand.left = list(map(sub, map(add, hand.left, taken), came))
        if not hand.ends or min(hand.left) < 0:
            self._end(hand)

    def close(self) -> None:
        """Give back all that is in hand, and close the store."""
        for hand in list(self._hands):
            self._end(hand)
        self._rest()
        self._store.close()

    def forget(self) -> None:
        """Leave what is in hand to the process that this one was forked from."""
        for hand in self._hands:
            hand.ends, hand.receipt = 0, None
        self._hands.clear()

    def _ask(self, asked: CounterKeys, known: Known, costs: Sequence[int], now: int) -> TakeResult:
        """Take from the store: ahead or, where that is not for now, for this request alone."""
        hand = known.hand
        if hand is not None:
            known.remaining, known.last = hand.standing(), hand.last
        often = known.often(asked, costs, now)
        wanted = [cost * often for cost in costs] if often > 1 else costs
        if hand is not None and not (often > 1 and self._refill(hand, wanted, now)):
            self._end(hand)
            hand = known.hand = None
        if hand is None and often > 1:
            hand = self._take_ahead(known, wanted, now)
        if hand is not None:
            hand.left, hand.last = list(map(sub, hand.left, costs)), now
            return TakeResult(None, hand.standing(), hand.resets, [hand, costs])
        taken = None if known.denied else self._store.take(asked, costs)
        if taken is None or taken.denied is not None:
            taken = self._ask_again(asked, known, costs)
        known.denied = taken.denied is not None
        known.remaining = taken.remaining
        known.last = now
        return taken

    def _refill(self, hand: Hand, wanted: Sequence[int], now: int) -> bool:
        """Have so much in hand again, if that goes with what was taken before."""
        if not hand.begins <= now < hand.ends or any(map(gt, wanted, hand.marked)):
            return False
        lacking = [max(more, 0) for more in map(sub, wanted, hand.left)]
        taken = self._store.more(hand.receipt, lacking)
        if taken is not None:
            hand.put(lacking, taken)
        return taken is not None

    def _take_ahead(self, known: Known, wanted: Sequence[int], now: int) -> Hand | None:
        """Have so much in hand, with marks that say so; None when there is not so much."""
        taken = self._store.take(known.marked, [*wanted, *wanted])
        if not whole(taken):
            self._store.settle(taken.receipt, [0] * 2 * len(wanted))
            return None
        hand = known.hand = Hand(known, taken, wanted, now)
        self._hands.add(hand)
        self._look_later()
        return hand

    def _ask_again(self, asked: CounterKeys, known: Known, costs: Sequence[int]) -> TakeResult:
        """Ask until it passes, or what others have in hand of the limit that denies is too little
        to wait for."""
        count, until = len(costs), time.monotonic() + MARKED
        while True:
            taken = self._store.take(known.marked, [*costs, *[0] * count])
            denied, remaining, resets, receipt, waits = taken
            told = TakeResult(denied, remaining[:count], resets[:count], receipt, waits[:count])
            if denied is None:
                return told
            limit = asked.limits[denied]
            own = [one for one in self._hands if one.ends and limit[::2] in one.known.keys]
            held = ENDLESS - remaining[count + denied]
            missing = max(costs[denied], 1) - remaining[denied]
            if held < missing or time.monotonic() > until:
                return told
            for hand in own:
                self._end(hand)
            if not own:
                gevent.sleep(_PAUSE)

    def _end(self, hand: Hand) -> None:
        """Give back what is left, and take away the marks: again and again until it is done."""
        hand.ends = 0
        used = list(map(sub, hand.granted, hand.left))
        if self._store.correct(hand.receipt, used + [0] * len(used)):
            self._hands.discard(hand)
        else:
            self._hands.add(hand)
            self._look_later()

    def _look_later(self) -> None:
        if self._timer is None:
            self._timer = gevent.get_hub().loop.timer(SPAN / 2, SPAN / 2)
            self._timer.start(self._end_the_old)

    def _end_the_old(self) -> None:
        """Runs in gevent's hub, where nothing may wait: nor does the gateway's log."""
        now = self._clock()
        for hand in [one for one in self._hands if not one.begins <= now < one.ends]:
            self._end(hand)
        if not self._hands:
            self._rest()

    def _rest(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None


_all: WeakSet[Ahead] = WeakSet()
"""What is to forget, in each child of this process."""


def _forget() -> None:
    for ahead in list(_all):
        ahead.forget()


os.register_at_fork(after_in_child=_forget)
