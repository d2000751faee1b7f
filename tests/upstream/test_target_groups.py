"""The order of a group is made as far as it is needed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.exchange.exchange import Exchange
from engine.upstream.target import Target
from engine.upstream.target_groups import TargetGroup, TargetOrder
from tests.support.exchanges import new_exchange
from tests.support.upstreams import Client, target

TARGETS = [target(Client(), name=name) for name in "abc"]


class Counted:
    """A strategy in the order of the file, whose picks are counted."""

    picks = 0

    def __call__(self, group: TargetGroup, exchange: Exchange) -> Iterator[Target]:
        for each in group.targets:
            self.picks += 1
            yield each


def test_a_target_is_picked_when_it_is_needed() -> None:
    strategy = Counted()
    order = TargetGroup(TARGETS, strategy).order(new_exchange())
    assert strategy.picks == 0
    assert order[0] is TARGETS[0]
    assert strategy.picks == 1
    assert next(iter(order)) is TARGETS[0]
    assert strategy.picks == 1


def test_an_order_is_read_again_without_another_pick() -> None:
    strategy = Counted()
    order = TargetGroup(TARGETS, strategy).order(new_exchange())
    assert [*order] == [*order] == TARGETS
    assert (len(order), order[-1], order[1:]) == (3, TARGETS[2], TARGETS[1:])
    assert strategy.picks == 3


def test_an_order_ends_where_its_picks_end() -> None:
    order = TargetOrder(iter(TARGETS[:1]), 2)
    with pytest.raises(IndexError):
        order[1]


@pytest.mark.parametrize("targets", [[], TARGETS[:1]])
def test_without_a_choice_there_is_no_pick(targets: list[Target]) -> None:
    strategy = Counted()
    assert list(TargetGroup(targets, strategy).order(new_exchange())) == targets
    assert strategy.picks == 0
