"""In which order targets are asked: each drawn by weight among those that are left.

So what a failed target would have got is shared out by weight too. Pure: the source of randomness
is passed in.
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
    """The targets, drawn one after another by weight; `dice` gives a number from 0 up to 1. Those
    without weight come last."""
    if len(targets) <= 1:
        return list(targets)
    point = dice() * sum(target.weight for target in targets)
    chosen = 0
    for chosen, target in enumerate(targets):  # noqa: B007 - the index is what is wanted
        point -= target.weight
        if point < 0:
            break
    rest = [*targets[:chosen], *targets[chosen + 1 :]]
    if len(rest) > 1:
        rest.sort(key=lambda target: _arrival(target.weight, dice))
    return [targets[chosen], *rest]


def _arrival(weight: float, dice: Callable[[], float]) -> float:
    """When a target would come if all of them came at random times, each as often as its weight
    says: sorted by it, they are drawn by weight (Efraimidis and Spirakis, 2006)."""
    return -math.log1p(-dice()) / weight if weight > 0 else math.inf
