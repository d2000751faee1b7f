"""Strategies are found by their place."""

from __future__ import annotations

import random

from engine.config.models import Choice
from engine.exchange.stage_services import Services
from engine.upstream import choose
from engine.upstream.targets.target_groups import TargetGroup
from tests.support import yaml_text
from tests.support.each import each
from tests.support.exchanges import new_exchange
from tests.support.upstreams import Client, target


def test_a_model_without_choose_takes_a_strategy_that_exists() -> None:
    assert Choice().strategy in choose.names()


@each("name", choose.names())
def test_a_strategy_gives_every_target_once(name: str) -> None:
    kind = choose.KINDS.get(name)
    options = yaml_text.load(kind.options.form)[name] if kind.options else None
    picks = choose.build(Services(dice=random.Random(7).random), Choice(name, options))
    for count in (2, 3, 10):
        targets = [target(Client(), name=f"u{n}", weight=n % 4) for n in range(count)]
        order = list(TargetGroup(targets, picks).picks(new_exchange(model="m")))
        assert len(order) == count
        assert set(order) == set(targets)
