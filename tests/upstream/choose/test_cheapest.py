"""`cheapest`: the order by price."""

from __future__ import annotations

import random
from typing import Any

from engine.config.models import Choice, Model, TargetConfig
from engine.exchange.stage_services import Services
from engine.upstream import choose
from engine.upstream.models.build_catalog import build_catalog
from engine.values.price import Price, price_of
from engine.values.price_list import Prices
from tests.support.exchanges import new_exchange
from tests.support.upstreams import Client, upstream

CHEAP, MIDDLE, DEAR = (price_of({"input": n, "output": 4 * n}) for n in (1, 2, 3))


def order(
    prices: Prices, *to: tuple[str, str, float], entry: str = "m", model: str = "m", seed: int = 7
) -> list[str]:
    """The upstreams in the order of attempts, for a model with these targets: upstream, model
    there, weight."""
    services = Services(prices=prices, dice=random.Random(seed).random)
    targets = tuple(TargetConfig(name, there, weight) for name, there, weight in to)
    models: Any = {
        entry: Model(entry, targets, (), "", "", 0, choose=Choice("cheapest")),
    }
    upstreams = {name: upstream(Client(), name=name) for name, _, _ in to}
    catalog = build_catalog(models, upstreams, lambda choice: choose.build(services, choice))
    served = catalog.find(model)
    assert served is not None
    return [target.upstream.name for target in served.order(new_exchange(model=model))]


def by_upstream(**prices: Price) -> Prices:
    """Default prices of the model `x` at each upstream."""
    return Prices({}, {name: {"x": price} for name, price in prices.items()})


def test_the_cheapest_comes_first_and_the_dearest_last() -> None:
    prices = by_upstream(a=DEAR, b=CHEAP, c=MIDDLE)
    assert order(prices, ("a", "x", 9), ("b", "x", 1), ("c", "x", 1)) == ["b", "c", "a"]


def test_targets_of_one_price_are_drawn_by_weight() -> None:
    prices = by_upstream(a=CHEAP, b=CHEAP, c=MIDDLE)
    orders = [
        order(prices, ("a", "x", 3), ("b", "x", 1), ("c", "x", 9), seed=seed) for seed in range(400)
    ]
    assert all(each[2] == "c" for each in orders)
    assert abs(sum(each[0] == "a" for each in orders) / 400 - 0.75) < 0.07


def test_a_target_without_a_price_comes_last() -> None:
    assert order(by_upstream(b=DEAR), ("a", "x", 9), ("b", "x", 1)) == ["b", "a"]


def test_the_name_at_the_upstream_has_the_price() -> None:
    prices = Prices({}, {"a": {"big": DEAR, "small": CHEAP}, "b": {"big": MIDDLE}})
    assert order(prices, ("b", "big", 1), ("a", "big", 1)) == ["b", "a"]
    assert order(prices, ("b", "big", 1), ("a", "small", 1)) == ["a", "b"]


def test_behind_a_wildcard_the_requested_name_decides() -> None:
    prices = Prices({}, {"a": {"x-1": CHEAP, "x-2": DEAR}, "b": {"x-1": MIDDLE, "x-2": MIDDLE}})
    to = (("a", "", 1.0), ("b", "", 1.0))
    assert order(prices, *to, entry="x-*", model="x-1") == ["a", "b"]
    assert order(prices, *to, entry="x-*", model="x-2") == ["b", "a"]


def test_a_star_has_the_price_of_what_it_stands_for() -> None:
    prices = Prices({}, {"a": {"1": DEAR}, "b": {"1": CHEAP}})
    to = (("a", "*", 1.0), ("b", "*", 1.0))
    assert order(prices, *to, entry="x/*", model="x/1") == ["b", "a"]


def test_models_paid_by_the_image_are_compared_by_it() -> None:
    prices = by_upstream(a=price_of({"image": 0.04}), b=price_of({"image": 0.02}))
    assert order(prices, ("a", "x", 1), ("b", "x", 1)) == ["b", "a"]
