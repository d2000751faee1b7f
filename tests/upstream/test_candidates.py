"""Which target of a request is attempted next; how failures are applied is in test_forward."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.config.upstreams import BreakerConfig, Retry
from engine.credentials.interface.fixed import HeaderCredential
from engine.upstream.candidates import Candidates, order
from engine.upstream.target import Target
from tests.support.clock import Clock
from tests.support.upstreams import Client, target


class Share(NamedTuple):
    name: str
    weight: float


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


KEYS = [HeaderCredential("header", "authorization", key) for key in ("Bearer aaaa", "Bearer bbbb")]


def candidates(
    *targets: Target, clock: Clock | None = None, carries: Callable[[Target], bool] | None = None
) -> Candidates:
    return Candidates(targets, clock or Clock(), lambda: 0.5, carries)


def attempted(of: Candidates, count: int) -> list[Target | None]:
    """The targets of so many attempts, None where there is none."""
    targets = [of.next() for _ in range(count)]
    return [candidate and candidate.target for candidate in targets]


def test_every_target_is_attempted_once_before_any_of_them_twice() -> None:
    a, b = (target(Client(), name=name, retry=Retry(attempts=2)) for name in "ab")
    assert attempted(candidates(a, b), 5) == [a, b, a, b, None]


def test_a_target_that_cannot_get_the_request_is_left_out() -> None:
    a, b = target(Client(), name="a"), target(Client(), name="b")
    assert attempted(candidates(a, b, carries=lambda target: target is b), 2) == [b, None]


def test_a_retry_waits_and_a_first_attempt_does_not() -> None:
    of = candidates(target(Client(), retry=Retry(attempts=2)))
    first, second = of.next(), of.next()
    assert first is not None
    assert second is not None
    assert first.wait == 0
    assert second.wait > 0


def test_no_attempt_begins_after_the_total_timeout_of_the_first_upstream() -> None:
    clock = Clock()
    of = candidates(target(Client()), clock=clock)
    clock.advance(of.deadline)
    assert of.next() is None


def test_a_target_with_an_open_breaker_is_unavailable_until_it_closes() -> None:
    of = candidates(target(Client(), breaker=BreakerConfig(failures=1, cooldown=7.0)))
    candidate = of.next()
    assert candidate is not None
    of.failed(candidate.target, None, "5xx", None)
    assert attempted(of, 1) == [None]
    assert ("retry-after", "7") in of.unavailable().headers


@pytest.mark.parametrize("failure", ["credential", "429"])
def test_a_retry_takes_another_credential_than_the_one_that_failed(failure: str) -> None:
    of = candidates(target(Client(), credentials=KEYS, retry=Retry(attempts=3)))
    first = of.next()
    assert first is not None
    of.failed(first.target, first.credential, failure, 0.0)
    second = of.next()
    assert second is not None
    assert {first.credential, second.credential} == set(KEYS)


class Renewable(HeaderCredential):
    """A credential whose token can be fetched anew; `renewals` are counted."""

    renewals = 0

    def renew(self) -> bool:
        type(self).renewals += 1
        return True


def test_a_refused_token_is_fetched_anew_once_in_a_request() -> None:
    class Token(Renewable):
        pass

    only = target(Client(), credentials=[Token("k", "a", "s")], retry=Retry(attempts=5))
    tried = candidates(only)
    for _ in range(2):
        candidate = tried.next()
        assert candidate is not None
        tried.failed(candidate.target, candidate.credential, "credential", None)
    assert Token.renewals == 1
    assert tried.next() is None


def test_a_fixed_credential_that_is_refused_is_not_tried_again() -> None:
    only = target(Client(), credentials=[KEYS[0]], retry=Retry(attempts=5))
    tried = candidates(only)
    candidate = tried.next()
    assert candidate is not None
    tried.failed(candidate.target, candidate.credential, "credential", None)
    assert tried.next() is None
