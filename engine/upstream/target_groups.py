"""Groups of targets of which a request asks one, and the order in which it asks them.

A model's own targets are a group, and those of each fallback another. A strategy (see `choose/`)
orders the targets of a group; groups are asked one after another.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import overload

from engine.exchange.exchange import Exchange
from engine.upstream.target import Target

Picks = Callable[["TargetGroup", Exchange], Iterator[Target]]
"""A strategy: the targets of a group for a request, the first choice first, each once. The iterator
is lazy: most requests take one pick."""


class TargetGroup:
    """Targets beside each other, with the strategy that orders them."""

    __slots__ = ("_sums", "strategy", "targets")

    def __init__(self, targets: Sequence[Target], strategy: Picks) -> None:
        self.targets = tuple(targets)
        self.strategy = strategy
        self._sums = tuple(accumulate(target.weight for target in self.targets))

    def __len__(self) -> int:
        return len(self.targets)

    def of(self, targets: Sequence[Target]) -> TargetGroup:
        """A group of some of the targets with the same strategy."""
        return TargetGroup(targets, self.strategy)

    def draw(self, dice: Callable[[], float]) -> int:
        """The index of one target, drawn by weight: of weight 0 only where all are. `dice` gives a
        number from 0 up to 1."""
        sums, total = self._sums, self._sums[-1]
        index = bisect_right(sums, dice() * total)
        # Rounding may leave the point behind the last weight.
        return index if index < len(sums) else sums.index(total)

    def picks(self, exchange: Exchange) -> Iterator[Target]:
        """The targets for a request, the first choice first."""
        targets = self.targets
        return self.strategy(self, exchange) if len(targets) > 1 else iter(targets)

    def order(self, exchange: Exchange) -> Sequence[Target]:
        """The targets for a request, in the order of attempts."""
        targets = self.targets
        return TargetOrder(self.picks(exchange), len(targets)) if len(targets) > 1 else targets


class TargetOrder(Sequence[Target]):
    """The `count` targets of a request in the order of attempts, each picked when it is needed."""

    __slots__ = ("_count", "_picked", "_picks")

    def __init__(self, picks: Iterator[Target], count: int) -> None:
        self._picks = picks
        self._count = count
        self._picked: list[Target] = []

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Target: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Target]: ...
    def __getitem__(self, index: int | slice) -> Target | Sequence[Target]:
        picked = self._picked
        if isinstance(index, slice) or index < 0:
            return list(self)[index]
        while len(picked) <= index:
            target = next(self._picks, None)
            if target is None:
                raise IndexError(index)
            picked.append(target)
        return picked[index]
