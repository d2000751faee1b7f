"""What is compared, and how often a target is measured without."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from engine.exchange.request_record import RequestRecord
from engine.exchange.stage_services import Services
from engine.upstream.targets.best_of_sample import EXPLORATION_SHARE, BestOfSample, SampledTarget
from engine.upstream.targets.target_groups import Shares, TargetGroup
from engine.upstream.targets.target_state import OpenAttempt
from tests.support.exchanges import new_exchange
from tests.support.upstreams import Client, target


class Last:
    """Takes the last of the drawn, and keeps what was drawn."""

    def __init__(self) -> None:
        self.drawn: list[list[int]] = []

    def __call__(self, drawn: Sequence[SampledTarget]) -> SampledTarget:
        self.drawn.append([each.index for each in drawn])
        return drawn[-1]


def group_of(
    count: int, drawn: int, dice: Callable[[], float] = lambda: 0.5
) -> tuple[TargetGroup, Last]:
    best = Last()
    targets = [target(Client(), name=f"u{n}", weight=n + 1) for n in range(count)]
    return TargetGroup(targets, BestOfSample(Services(dice=dice), drawn, best)), best


@pytest.mark.parametrize(("count", "drawn"), [(2, 2), (2, 3), (3, 3), (100, 3), (100, 2)])
def test_no_more_are_compared_than_are_drawn(count: int, drawn: int) -> None:
    group, best = group_of(count, drawn)
    next(group.picks(new_exchange()))
    assert len(best.drawn[0]) <= drawn
    assert len(set(best.drawn[0])) == len(best.drawn[0])


def test_failover_draws_among_those_that_remain() -> None:
    group, best = group_of(4, 2)
    assert len({*group.picks(new_exchange())}) == 4
    assert len(best.drawn) == 3  # the last one is no choice


def test_one_in_a_hundred_goes_to_an_idle_target_whatever_is_known_of_it() -> None:
    group, best = group_of(2, 2, lambda: EXPLORATION_SHARE / 2)
    assert next(group.picks(new_exchange())) is group.targets[0]
    assert best.drawn == []


def test_a_busy_target_is_not_explored() -> None:
    group, best = group_of(2, 2, lambda: EXPLORATION_SHARE / 2)
    OpenAttempt(group.targets[0].state.observers, RequestRecord())
    next(group.picks(new_exchange()))
    assert best.drawn == [[0, 1]]


def test_a_target_without_weight_is_drawn_with_a_share() -> None:
    """Where all have weight 0, nothing is divided by it."""
    targets = [target(Client(), weight=0) for _ in range(2)]
    TargetGroup(targets, BestOfSample(Services(), 2, Last()))
    assert SampledTarget(Shares(targets), 0, 0.0).share == 1.0
