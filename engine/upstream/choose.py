"""The order in which targets are tried: each is drawn by weight from those that remain.

So the requests of a failed target are shared out by weight too. Pure: the source of randomness is
passed in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar


class Weighted(Protocol):
    """Anything with a share."""

    @property
    def weight(self) -> float: ...


T = TypeVar("T", bound=Weighted)


def order(targets: Sequence[T], dice: Callable[[], float]) -> list[T]:
    """The targets, drawn one after another by weight; `dice` gives a number from 0 up to 1.
    Targets of weight 0 come last."""
    if len(targets) <= 1:
        return list(targets)
    first = _draw(targets, dice)
    others_by_arrival = [*targets[:first], *targets[first + 1 :]]
    if len(others_by_arrival) > 1:
        others_by_arrival.sort(key=lambda target: _log_arrival(target.weight, dice))
    return [targets[first], *others_by_arrival]


def _draw(targets: Sequence[Weighted], dice: Callable[[], float]) -> int:
    """The index of one target, drawn by weight: of weight 0 only where all are."""
    point = dice() * sum(target.weight for target in targets)
    choice = 0
    for index, target in enumerate(targets):
        if target.weight > 0:
            choice = index  # rounding may leave the point at 0 after the last weight
        point -= target.weight
        if point < 0:
            break
    return choice


def _log_arrival(weight: float, dice: Callable[[], float]) -> float:
    """The logarithm of a random arrival time at the rate `weight`: targets sorted by it are drawn
    by weight (Efraimidis and Spirakis, 2006). The time itself would overflow for a weight near 0,
    which a config may have."""
    if weight <= 0:
        return math.inf
    time = -math.log1p(-dice())
    return math.log(time) - math.log(weight) if time else -math.inf
