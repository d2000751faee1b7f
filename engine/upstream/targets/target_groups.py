"""Groups of equivalent targets, and the order in which a request asks them.

The targets of a model are a group, and those of each fallback another one. A strategy (see
`choose/`) orders the targets of a group; groups are asked one after another.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain, zip_longest
from typing import Protocol, overload

from engine.exchange.exchange import Exchange
from engine.upstream.targets.target import Target

Dice = Callable[[], float]
"""Returns a random number from 0 up to, but not including, 1."""


class Strategy(Protocol):
    """Orders the targets of groups in one worker (see `choose/`)."""

    def watch(self, group: TargetGroup, /) -> None:
        """Called for each group before its first request, and again when its targets change."""

    def picks(self, group: TargetGroup, exchange: Exchange, /) -> Iterator[Target]:
        """The targets of a group, two or more, for a request: the first choice first, each once.
        The iterator is lazy, because most requests need only the first one."""
        ...


class Shares:
    """Targets and their weights; a target is drawn by weight in logarithmic time. `average` is the
    average weight, 1.0 if all are 0."""

    __slots__ = ("_sums", "average", "targets")

    def __init__(self, targets: Sequence[Target]) -> None:
        self.targets = targets
        self._sums, self.average = _sums_of(tuple(target.weight for target in targets))

    def draw(self, dice: Dice) -> int:
        """The index of a target, drawn by weight; weight 0 is drawn only if all weights are 0."""
        return self._at(dice() * self._sums[-1])

    def draw_other(self, index: int, dice: Dice) -> int:
        """The index of another target, drawn by weight; `index` itself if all others have weight
        0."""
        sums = self._sums
        before = sums[index - 1] if index else 0.0
        weight = sums[index] - before
        point = dice() * (sums[-1] - weight)
        return self._at(point if point < before else point + weight)

    def others(self, index: int) -> list[int]:
        """The indexes of the other targets, without those of weight 0 unless all others have it."""
        others = [i for i in range(len(self.targets)) if i != index]
        return [i for i in others if self.targets[i].weight > 0] or others

    def without(self, index: int) -> Shares:
        """The other targets."""
        return Shares([*self.targets[:index], *self.targets[index + 1 :]])

    def _at(self, point: float) -> int:
        sums = self._sums
        index = bisect_right(sums, point)
        # Rounding may move the point beyond the last weight.
        return index if index < len(sums) else sums.index(sums[-1])


@lru_cache(maxsize=256)
def _sums_of(weights: tuple[float, ...]) -> tuple[tuple[float, ...], float]:
    """The sum of the weights up to each, and their average, 1.0 if all are 0. Cached, because
    thousands of groups have the same weights."""
    sums = tuple(accumulate(weights))
    return sums, (sums[-1] / len(sums) if sums else 0.0) or 1.0


class TargetGroup:
    """Equivalent targets, with the strategy that orders them.

    `configured` are those of the config. In `targets`, a target whose addresses are followed is
    replaced by its replicas; the tuple is replaced when the addresses change. Replicas with a
    higher priority number come after those with a lower one.
    """

    __slots__ = (
        *("_by_priority", "_levels", "_listeners", "_name", "configured", "shares", "strategy"),
        "targets",
    )

    def __init__(self, targets: Sequence[Target], strategy: Strategy) -> None:
        self.configured = tuple(targets)
        self.strategy = strategy
        self._name = ""
        self._listeners: tuple[Callable[[], None], ...] = ()
        self._by_priority: tuple[TargetGroup, ...] = ()  # only grows
        self._levels: Sequence[TargetGroup] = ()
        self._refresh()
        upstreams = {t.upstream.name: t.upstream for t in targets if not t.address}
        for upstream in upstreams.values():
            if upstream.replicas is not None:
                upstream.replicas.on_change(self._refresh)

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call a function after each change of `targets`."""
        self._listeners += (listener,)

    def _refresh(self) -> None:
        """Use the current addresses."""
        replicas = [target.replicas() for target in self.configured]
        levels = [tuple(chain(*level)) for level in zip_longest(*replicas, fillvalue=())]
        targets = tuple(chain(*levels))
        # The same tuple, where no addresses are followed: a config may have thousands of groups.
        targets = self.configured if targets == self.configured else targets
        self._set(targets, ordered=len(levels) < 2)
        if len(levels) > 1:
            while len(self._by_priority) < len(levels):
                self._by_priority += (self._level(len(self._by_priority)),)
            for group, level in zip(self._by_priority, levels, strict=False):
                group._set(level, ordered=True)
        self._levels = self._by_priority[: len(levels)] if len(levels) > 1 else ()
        for listener in self._listeners:
            listener()

    def _level(self, number: int) -> TargetGroup:
        """The group of the replicas of a priority."""
        level = TargetGroup((), self.strategy)
        level._name = f"{self.name}/{number}"
        return level

    def _set(self, targets: tuple[Target, ...], *, ordered: bool) -> None:
        """Use these targets; with `ordered` the strategy orders all of them at once."""
        self.targets = targets
        self.shares = Shares(targets)
        if ordered and len(targets) > 1:
            self.strategy.watch(self)

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def name(self) -> str:
        """An identifier, equal for all groups of this machine with the same configured targets."""
        return self._name or " ".join(sorted(target.state.name for target in self.configured))

    def of(self, targets: Sequence[Target]) -> TargetGroup:
        """The group of some of the configured targets, in their order, with the same strategy; this
        one for all of them."""
        targets = tuple(targets)
        return self if targets == self.configured else TargetGroup(targets, self.strategy)

    def picks(self, exchange: Exchange) -> Iterator[Target]:
        """The targets for a request, the first choice first."""
        targets = self.targets
        if len(targets) < 2:
            return iter(targets)
        if self._levels:
            return chain.from_iterable(level.picks(exchange) for level in self._levels)
        return self.strategy.picks(self, exchange)

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
