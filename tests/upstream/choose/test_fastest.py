"""`fastest`, in simulations of one machine with four workers."""

from __future__ import annotations

import random

import pytest

from engine.config.models import Choice
from tests.support.choosing import Machine, Replica

FASTEST = Choice("fastest")


@pytest.mark.parametrize("rate", [1, 10, 20, 80, 300])
def test_a_replica_that_is_50_times_slower_gets_few_requests(rate: float) -> None:
    usual = Machine([Replica() for _ in range(8)], FASTEST).run(3000, rate)
    replicas = [*(Replica() for _ in range(7)), Replica(seconds=5.0)]
    slow = Machine(replicas, FASTEST).run(3000, rate)
    assert slow.share(7) < 0.02
    assert slow.quantile(0.99) < 1.5 * usual.quantile(0.99)


@pytest.mark.parametrize("stream", [True, False])
def test_the_time_of_tokens_counts(stream: bool) -> None:
    """The second answers first and writes slowly."""
    replicas = [Replica(0.5, per_token=0.01), Replica(0.1, per_token=0.05)]
    result = Machine(replicas, FASTEST).run(2000, 0.1, stream=stream, tokens=lambda: 100)
    assert result.share(0) > 0.95


def test_short_answers_are_not_taken_for_fast_ones() -> None:
    """Of two equal targets neither stays the faster one because its answers were short."""
    dice = random.Random(3)
    replicas = [Replica(0.1, per_token=0.01), Replica(0.1, per_token=0.01)]
    result = Machine(replicas, FASTEST).run(
        4000, 20, stream=False, tokens=lambda: dice.choice([1, 1000])
    )
    assert 0.35 < result.share(0) < 0.65


@pytest.mark.parametrize("replica", [Replica(0.001, failure="429"), Replica(0.001, status=503)])
@pytest.mark.parametrize("rate", [1, 100])
def test_a_target_that_fails_fast_does_not_win(replica: Replica, rate: float) -> None:
    result = Machine([Replica(), Replica(), replica], FASTEST).run(4000, rate)
    assert result.share(2) < 0.03


def test_a_target_that_sometimes_fails_is_slower_by_that() -> None:
    dice = random.Random(5)
    replicas = [Replica(seconds=1.0), Replica(seconds=0.7)]
    machine = Machine(replicas, FASTEST)
    assert machine.run(1000, 0.5).share(1) > 0.7

    def fail_by_half(*_: object) -> int:
        replicas[1].failure = dice.choice(["", "5xx"])
        return 1

    assert machine.run(1000, 0.5, tokens=lambda: fail_by_half()).share(1) < 0.4


def test_the_fastest_does_not_get_all_requests_under_load() -> None:
    """So that the workers of a machine do not run to one target."""
    replicas = [Replica(seconds=0.5), *(Replica(seconds=0.6) for _ in range(3))]
    result = Machine(replicas, FASTEST).run(8000, 400)
    assert 0.25 < result.share(0) < 0.5
    assert min(result.share(n) for n in range(1, 4)) > 0.15


def test_new_targets_are_measured_one_request_at_a_time() -> None:
    replicas = [Replica(seconds=100.0), Replica(seconds=0.1)]
    result = Machine(replicas, FASTEST).run(200, 5)
    assert result.most_in_flight[0] <= 2  # the second at the start, when nothing was known


def test_weights_are_respected_between_equals() -> None:
    replicas = [Replica(seconds=1, weight=3), Replica(seconds=1, weight=1)]
    result = Machine(replicas, FASTEST).run(8000, 100)
    assert abs(result.share(0) - 0.75) < 0.05


def test_a_replica_that_recovers_is_used_again() -> None:
    replicas = [*(Replica() for _ in range(7)), Replica(seconds=5.0)]
    machine = Machine(replicas, FASTEST)
    assert machine.run(3000, 100).share(7) < 0.02
    replicas[7].seconds = 0.1
    machine.run(15_000, 100)
    assert machine.run(3000, 100).share(7) > 0.05
