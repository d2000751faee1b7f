"""`weighted`: which target comes first, and who gets the requests of one that fails."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.exchange.stage_services import Services
from engine.upstream.choose import weighted
from engine.upstream.targets.target_groups import TargetGroup
from tests.support.exchanges import new_exchange


class Share(NamedTuple):
    name: str
    weight: float
    address: str = "10.0.0.1:80"

    def replicas(self) -> Any:
        return ((self,),)


def order(shares: list[Share], dice: Callable[[], float]) -> list[Share]:
    """All targets in the order of attempts."""
    targets: Any = shares
    group = TargetGroup(targets, weighted.STRATEGY.build(None, Services(dice=dice)))
    picks: Any = group.picks(new_exchange())
    return list(picks)


WEIGHED = [Share("a", 6), Share("b", 3), Share("c", 1)]


def names(targets: list[Share]) -> str:
    return "".join(target.name for target in targets)


@pytest.mark.parametrize(
    ("dice", "expected"),
    [
        (0.0, "a"),
        (0.59, "a"),
        (0.61, "b"),
        (0.89, "b"),
        (0.91, "c"),
        (0.999999999, "c"),
    ],
)
def test_the_first_is_drawn_by_weight(dice: float, expected: str) -> None:
    assert names(order(WEIGHED, lambda: dice))[0] == expected


def test_the_next_are_drawn_by_weight_among_the_rest() -> None:
    targets = [Share("a", 6), Share("b", 3), Share("c", 1), Share("d", 2)]
    dice, rounds = random.Random(7).random, 40_000
    counts = Counter(names(order(targets, dice))[:3] for _ in range(rounds))
    for first, second, third in itertools.permutations(targets, 3):
        total, expected = 12.0, 1.0
        for share in (first, second, third):
            expected *= share.weight / total
            total -= share.weight
        name = first.name + second.name + third.name
        assert abs(counts[name] / rounds - expected) < 0.01, name


def test_a_failing_target_leaves_its_share_to_the_others_by_weight() -> None:
    """Three replicas of one weight: when one fails, the two others get half of its requests each,
    wherever they stand in the file."""
    dice, rounds = random.Random(7).random, 20_000
    replicas = [Share(name, 1) for name in "abc"]
    for failing in "abc":
        shares = Counter(
            names(order(replicas, dice)).replace(failing, "")[0] for _ in range(rounds)
        )
        for name in set("abc") - {failing}:
            assert abs(shares[name] / rounds - 0.5) < 0.02


def test_each_target_comes_first_by_its_share() -> None:
    dice = random.Random(7).random
    firsts = Counter(order(WEIGHED, dice)[0].name for _ in range(10_000))
    for name, share in (("a", 0.6), ("b", 0.3), ("c", 0.1)):
        assert abs(firsts[name] / 10_000 - share) < 0.02


@pytest.mark.parametrize("targets", [[], [Share("a", 1)], [Share("a", 0)]])
def test_without_a_choice_no_random_number_is_drawn(targets: list[Share]) -> None:
    def never() -> float:
        raise AssertionError

    assert order(targets, never) == targets


def test_a_target_of_weight_0_comes_last() -> None:
    targets = [Share("a", 0), Share("b", 1)]
    for dice in (0.0, 0.5, 0.999):
        assert names(order(targets, lambda dice=dice: dice)) == "ba"


@given(
    st.lists(st.floats(0, 1000), min_size=1, max_size=6),
    st.floats(0, 1, exclude_max=True),
)
@example([0.0, 1.0, 5e-324], 0.5)  # its arrival time would be infinite, like that of weight 0
@example([5e-324, 0.0], 0.9)  # the product of dice and sum is rounded up to the sum
def test_every_target_is_there_once_and_those_of_weight_0_come_last(
    weights: list[float], dice: float
) -> None:
    targets = [Share(str(n), weight) for n, weight in enumerate(weights)]
    ordered = order(targets, lambda: dice)
    assert sorted(ordered) == sorted(targets)
    positive = [target.weight > 0 for target in ordered]
    assert positive == sorted(positive, reverse=True)


def test_the_smallest_weights_are_drawn_by_weight_too() -> None:
    """`weight: 5e-324` is a number above 0, so a config may have it."""
    targets = [Share("a", 1), Share("b", 1e-320), Share("c", 3e-320)]
    dice, rounds = random.Random(7).random, 10_000
    second = Counter(names(order(targets, dice))[1] for _ in range(rounds))
    assert abs(second["c"] / rounds - 0.75) < 0.02


def test_the_lowest_random_number_gives_an_order_too() -> None:
    assert sorted(names(order(WEIGHED, lambda: 0.0))) == ["a", "b", "c"]
