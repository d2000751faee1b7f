"""Which target comes first."""

from __future__ import annotations

import random
from collections import Counter
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.upstream.choose import order


class Share(NamedTuple):
    name: str
    weight: float


WEIGHED = [Share("a", 6), Share("b", 3), Share("c", 1)]


def names(targets: list[Share]) -> str:
    return "".join(target.name for target in targets)


@pytest.mark.parametrize(
    ("dice", "expected"),
    [
        (0.0, "abc"),
        (0.59, "abc"),
        (0.61, "bac"),
        (0.89, "bac"),
        (0.91, "cab"),
        (0.999999999, "cab"),
    ],
)
def test_one_is_chosen_by_weight_and_the_rest_keep_their_order(dice: float, expected: str) -> None:
    assert names(order(WEIGHED, lambda: dice)) == expected


def test_each_gets_its_share() -> None:
    dice = random.Random(7).random
    firsts = Counter(order(WEIGHED, dice)[0].name for _ in range(10_000))
    for name, share in (("a", 0.6), ("b", 0.3), ("c", 0.1)):
        assert abs(firsts[name] / 10_000 - share) < 0.02


@pytest.mark.parametrize("targets", [[], [Share("a", 1)], [Share("a", 0)]])
def test_where_there_is_no_choice_no_dice_are_thrown(targets: list[Share]) -> None:
    def never() -> float:
        raise AssertionError

    assert order(targets, never) == targets


def test_one_of_no_weight_is_only_for_need() -> None:
    targets = [Share("a", 0), Share("b", 1)]
    for dice in (0.0, 0.5, 0.999):
        assert names(order(targets, lambda dice=dice: dice)) == "ba"


@given(
    st.lists(st.floats(0, 1000), min_size=1, max_size=6),
    st.floats(0, 1, exclude_max=True),
)
def test_every_target_is_there_once(weights: list[float], dice: float) -> None:
    targets = [Share(str(n), weight) for n, weight in enumerate(weights)]
    ordered = order(targets, lambda: dice)
    assert sorted(ordered) == sorted(targets)
    assert ordered[1:] == [t for t in targets if t is not ordered[0]]
