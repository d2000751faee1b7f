"""`least_busy`, in simulations of one machine with four workers."""

from __future__ import annotations

import pytest

from engine.config.models import Choice
from tests.support.choosing import Machine, Replica

LEAST_BUSY = Choice("least_busy")


def eight(**last: float) -> list[Replica]:
    """Eight replicas, of which the last one differs."""
    return [*(Replica() for _ in range(7)), Replica(**last)]


@pytest.mark.parametrize("rate", [1, 10, 20, 80, 300])
def test_a_replica_that_is_50_times_slower_gets_few_requests(rate: float) -> None:
    usual = Machine(eight(), LEAST_BUSY).run(3000, rate)
    slow = Machine(eight(seconds=5.0), LEAST_BUSY).run(3000, rate)
    assert slow.share(7) < 0.02
    assert slow.quantile(0.99) < 1.5 * usual.quantile(0.99)


@pytest.mark.parametrize(("seconds", "even"), [(0.005, True), (0.02, False)])
def test_a_target_that_is_only_milliseconds_slower_gets_its_share(
    seconds: float, even: bool
) -> None:
    replicas = [Replica(seconds=0.001), Replica(seconds=seconds)]
    result = Machine(replicas, LEAST_BUSY).run(600, 8, tokens=lambda: 0)
    assert (abs(result.share(0) - 0.5) < 0.1) is even


def test_requests_in_flight_are_spread_evenly() -> None:
    result = Machine(eight(), LEAST_BUSY).run(8000, 800)  # 10 in flight at each
    assert max(result.most_in_flight.values()) <= 20
    assert all(abs(result.share(n) - 1 / 8) < 0.02 for n in range(8))


def test_idle_targets_get_requests_by_their_weights() -> None:
    replicas = [Replica(weight=6), Replica(weight=3), Replica(weight=1)]
    result = Machine(replicas, LEAST_BUSY).run(5000, 0.5)
    assert [round(result.share(n), 1) for n in range(3)] == [0.6, 0.3, 0.1]


def test_busy_targets_get_requests_by_their_weights() -> None:
    replicas = [Replica(seconds=1, weight=3), Replica(seconds=1, weight=1)]
    result = Machine(replicas, LEAST_BUSY).run(8000, 100)
    assert abs(result.share(0) - 0.75) < 0.03


def test_a_target_of_weight_0_gets_nothing_while_others_work() -> None:
    result = Machine([Replica(), Replica(), Replica(weight=0)], LEAST_BUSY).run(1000, 100)
    assert result.requests[2] == 0


@pytest.mark.parametrize("failure", ["429", "5xx"])
def test_a_replica_that_fails_at_once_gets_few_requests(failure: str) -> None:
    failing = [*(Replica(seconds=1) for _ in range(7)), Replica(seconds=0.001, failure=failure)]
    result = Machine(failing, LEAST_BUSY).run(4000, 100)
    assert result.share(7) < 0.02


def test_a_replica_that_recovers_is_used_again() -> None:
    replicas = eight(seconds=5.0)
    machine = Machine(replicas, LEAST_BUSY)
    assert machine.run(3000, 100).share(7) < 0.02
    replicas[7].seconds = 0.1
    machine.run(10_000, 100)
    assert machine.run(3000, 100).share(7) > 0.1


@pytest.mark.parametrize("choice", ["least_busy", "fastest"])
def test_a_replica_that_was_restarted_is_used_again_soon(choice: str) -> None:
    """Also where few requests are sent, of which one in a hundred explores."""
    replicas = [Replica(seconds=10.0) for _ in range(8)]
    machine = Machine(replicas, Choice(choice))
    machine.run(200, 2)
    replicas[7].failure = "connect"
    machine.run(60, 2)
    replicas[7].failure = ""
    machine.run(200, 2)
    assert machine.run(200, 2).share(7) > 0.08


def test_the_requests_of_a_target_that_is_out_are_spread_over_the_others() -> None:
    result = Machine(eight(), LEAST_BUSY).run(4000, 400, leave=[3])
    assert result.requests[3] == 0
    assert all(abs(result.share(n) - 1 / 7) < 0.03 for n in range(8) if n != 3)
