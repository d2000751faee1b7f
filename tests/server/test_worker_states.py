"""What became of the workers of a master."""

from __future__ import annotations

import pytest

from engine.server.worker_states import WorkerStates
from tests.support.clock import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock(100.0)


@pytest.fixture
def states(clock: Clock) -> WorkerStates:
    """Two workers that serve: 1 and 2."""
    result = WorkerStates(clock)
    for pid in (1, 2):
        result.start(pid, "old")
    result.serve([1, 2])
    return result


def phases(states: WorkerStates) -> dict[int, tuple[str, str, float, str]]:
    return {s.pid: (s.config, str(s.phase), s.since, s.error) for s in states.all()}


def test_a_worker_starts_and_then_serves(states: WorkerStates, clock: Clock) -> None:
    clock.now = 105
    states.start(3, "new")
    assert phases(states)[3] == ("new", "starts", 105, "")
    clock.now = 106
    states.serve([1, 2, 3])
    clock.now = 107
    states.serve([1, 2, 3])
    assert phases(states)[3] == ("new", "serves", 106, "")
    assert phases(states)[1] == ("old", "serves", 100, "")


def test_a_heavy_worker_is_one_for_its_whole_life(states: WorkerStates) -> None:
    states.start(3, "new", is_heavy=True)
    states.serve([3])
    states.end(3)
    assert [state.is_heavy for state in states.all()] == [False, False, True]


def test_an_ended_worker_is_forgotten(states: WorkerStates, clock: Clock) -> None:
    clock.now = 105
    states.end(1)
    clock.now = 106
    states.end(1)  # the master repeats it
    states.keep({1, 2}, {})
    assert phases(states)[1] == ("old", "ends", 105, "")
    states.keep({2}, {})
    assert list(phases(states)) == [2]


def test_a_worker_that_fails_is_remembered_with_its_error(states: WorkerStates) -> None:
    states.start(3, "new")
    states.end(3)  # the reload failed
    states.keep({1, 2}, {3: "the database is gone"})
    assert phases(states)[3] == ("new", "failed", 100, "the database is gone")
    states.forget_failures()
    assert list(phases(states)) == [1, 2]


def test_a_worker_that_died_without_a_word_failed(states: WorkerStates) -> None:
    states.keep({2}, {})
    assert phases(states)[1] == ("old", "failed", 100, "it died")


def test_the_last_failures_are_remembered(states: WorkerStates) -> None:
    for pid in range(3, 30):
        states.start(pid, "old")
        states.keep({1, 2}, {})
    assert list(phases(states)) == [1, 2, *range(22, 30)]
