"""Whom to ask, in which order: one target by weight, the others, then those of the fallbacks.

Pure: the dice are passed in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar


class Weighted(Protocol):
    """Anything with a share."""

    @property
    def weight(self) -> float: ...


T = TypeVar("T", bound=Weighted)


def order(targets: Sequence[T], dice: Callable[[], float]) -> list[T]:
    """The targets with one chosen by weight in front; `dice` gives a number from 0 up to 1."""
    if len(targets) <= 1:
        return list(targets)
    point = dice() * sum(target.weight for target in targets)
    chosen = 0
    for chosen, target in enumerate(targets):  # noqa: B007 - the index is what is wanted
        point -= target.weight
        if point < 0:
            break
    return [targets[chosen], *targets[:chosen], *targets[chosen + 1 :]]
