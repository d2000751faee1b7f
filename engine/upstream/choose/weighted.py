"""`weighted`: targets get requests by their weights, and so do the others when one fails.

Targets are drawn one after another by weight from those that remain; weight 0 comes last.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from engine.exchange.exchange import Exchange
from engine.exchange.stage_services import Services
from engine.upstream.choose.interface import StrategyKind
from engine.upstream.targets.target import Target
from engine.upstream.targets.target_groups import Dice, Strategy, TargetGroup


def _build(options: None, services: Services) -> Strategy:
    """The strategy of a worker."""
    return _Weighted(services.dice)


class _Weighted:
    __slots__ = ("_dice",)

    def __init__(self, dice: Dice) -> None:
        self._dice = dice

    def watch(self, group: TargetGroup) -> None:
        """Nothing of the targets is needed."""

    def picks(self, group: TargetGroup, exchange: Exchange) -> Iterator[Target]:
        targets, dice = group.targets, self._dice
        first = group.shares.draw(dice)
        yield targets[first]
        others = [*targets[:first], *targets[first + 1 :]]
        if len(others) > 1:
            others.sort(key=lambda target: _log_arrival(target.weight, dice))
        yield from others


def _log_arrival(weight: float, dice: Dice) -> float:
    """The logarithm of a random arrival time at the rate `weight`: targets sorted by it are drawn
    by weight (Efraimidis and Spirakis, 2006). The time itself would overflow for a weight near 0,
    which a config may have."""
    if weight <= 0:
        return math.inf
    time = -math.log1p(-dice())
    return math.log(time) - math.log(weight) if time else -math.inf


STRATEGY = StrategyKind(build=_build)
