"""`cheapest`: the target with the lowest price; if it fails, the one with the next higher price.

Prices are compared by the cost of one request with 3,000 tokens of input and 1,000 of output, and
with an image, a minute of audio and 1,000 characters where models charge for these. Targets of
equal price are drawn by weight; those without a price come last.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby

from engine.config.models import STAR
from engine.exchange.exchange import Exchange
from engine.exchange.stage_services import Services
from engine.upstream.choose.interface import StrategyKind
from engine.upstream.targets.target import Target
from engine.upstream.targets.target_groups import Shares, Strategy, TargetGroup
from engine.values.price import Price
from engine.values.usage import Usage
from engine.values.wildcard import star_text

COMPARED = Usage(input=3_000, output=1_000, images=1, seconds=60.0, characters=1_000)
"""The usage whose cost is compared."""

_MODELS = 1_000
"""The size of the cache of orders by requested name; a wildcard matches any number of names."""


def _build(options: None, services: Services) -> Strategy:
    """The strategy of a worker, with the prices of its config."""
    return _Cheapest(services)


class _Cheapest:
    def __init__(self, services: Services) -> None:
        self._dice = services.dice
        self._prices = services.prices
        self._by_price = lru_cache(_MODELS)(self._compare)

    def watch(self, group: TargetGroup) -> None:
        """Nothing of the targets is needed but their prices."""

    def picks(self, group: TargetGroup, exchange: Exchange) -> Iterator[Target]:
        for shares in self._by_price(group.targets, exchange.model.name):
            while len(shares.targets) > 1:
                index = shares.draw(self._dice)
                yield shares.targets[index]
                shares = shares.without(index)
            yield shares.targets[0]

    def _compare(self, targets: tuple[Target, ...], model: str) -> list[Shares]:
        """The targets for a requested name, grouped by price, the cheapest first."""

        def cost(target: Target) -> float:
            price = self._price(target, model)
            return math.inf if price is None else price.cost(COMPARED)

        return [Shares([*equal]) for _, equal in groupby(sorted(targets, key=cost), key=cost)]

    def _price(self, target: Target, model: str) -> Price | None:
        name = target.model or model
        if name == STAR:
            name = star_text(model, target.entry)
        return self._prices.find(target.exact_entry or model, target.upstream.name, name)


STRATEGY = StrategyKind(build=_build, by_price=True)
