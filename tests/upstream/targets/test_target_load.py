"""What an attempt tells of a target's load, however it ends."""

from __future__ import annotations

from typing import Any

import pytest

from engine.exchange.request_record import RequestRecord
from engine.upstream.addresses.replicas import Replicas
from engine.upstream.client.dial_order import Address, Share
from engine.upstream.targets.target_load import group_load, load_of
from engine.upstream.targets.target_state import Load, OpenAttempt
from engine.values.machine_state import LocalState
from engine.values.usage import Usage
from tests.support.clock import Clock
from tests.support.upstreams import (
    EVENTS,
    JSON,
    AddressedClient,
    Client,
    FakeResponse,
    group,
    target,
    upstream,
)


class Watched:
    """A target whose load is watched, with attempts by hand."""

    def __init__(self) -> None:
        self.target = target(Client())
        self.load: Load = load_of(self.target, LocalState())
        self.clock = Clock()
        self.clock.advance(1000.0)

    def begin(self) -> OpenAttempt:
        return OpenAttempt(self.target.state.observers, RequestRecord(), self.clock)

    def answer(self, seconds: float, *, stream: bool = False, status: int = 200) -> OpenAttempt:
        attempt: Any = self.begin()
        self.clock.advance(seconds)
        attempt.response = FakeResponse(status, EVENTS if stream else JSON)
        attempt.answered()
        return attempt  # type: ignore[no-any-return]

    def complete(self, attempt: OpenAttempt, seconds: float = 0.0, tokens: int = 0) -> None:
        self.clock.advance(seconds)
        attempt.record.response_end, attempt.record.usage = self.clock(), Usage(output=tokens)
        attempt.close()


@pytest.fixture
def watched() -> Watched:
    return Watched()


def test_a_request_is_in_flight_from_its_beginning_to_its_end(watched: Watched) -> None:
    counts = [watched.load.in_flight]
    first, second = watched.begin(), watched.begin()
    counts.append(watched.load.in_flight)
    first.close()
    first.close()
    counts.append(watched.load.in_flight)
    second.failed("5xx")
    second.close()
    counts.append(watched.load.in_flight)
    assert counts == [0, 2, 1, 0]


def test_a_stream_is_measured_at_its_first_content_and_at_its_end(watched: Watched) -> None:
    attempt = watched.answer(0.5, stream=True)
    assert watched.load.times.first_content == pytest.approx(0.5)
    watched.complete(attempt, 2.0, 101)
    assert watched.load.times.per_token == pytest.approx(0.02)


def test_an_answer_that_is_no_stream_is_measured_as_a_whole(watched: Watched) -> None:
    watched.complete(watched.answer(0.5), 0.5)
    assert watched.load.times.first_content == pytest.approx(1.0)


@pytest.mark.parametrize("status", [400, 404, 422, 302])
def test_a_refusal_says_nothing_of_the_speed(watched: Watched, status: int) -> None:
    watched.complete(watched.answer(0.001, status=status), tokens=5)
    assert (watched.load.times.typical, watched.load.times.failures(watched.clock())) == (0.0, 0.0)


@pytest.mark.parametrize("status", [500, 503, 429, 408])
def test_an_error_that_is_relayed_is_a_failure(watched: Watched, status: int) -> None:
    watched.complete(watched.answer(0.001, status=status))
    assert watched.load.times.typical == 0.0
    assert watched.load.times.failures(watched.clock()) > 0.9


@pytest.mark.parametrize("failure", ["connect", "reset", "429", "5xx", "credential", "fatal"])
def test_a_failed_attempt_is_a_failure_and_no_time(watched: Watched, failure: str) -> None:
    attempt = watched.begin()
    attempt.failed(failure)
    attempt.close()
    assert watched.load.times.typical == 0.0
    assert watched.load.times.failures(watched.clock()) > 0.9


def test_an_answer_that_broke_off_is_no_time(watched: Watched) -> None:
    attempt = watched.answer(0.1)
    attempt.failed("reset")
    watched.complete(attempt)
    assert watched.load.times.typical == 0.0


def test_an_answer_that_its_caller_left_is_no_time(watched: Watched) -> None:
    watched.answer(0.1).close()
    assert watched.load.times.typical == 0.0


def test_a_caller_who_waited_in_vain_tells_how_long(watched: Watched) -> None:
    watched.complete(watched.answer(0.1))
    attempt = watched.begin()
    watched.clock.advance(60.0)
    attempt.close()
    assert watched.load.times.first_content > 30.0


def test_of_a_session_the_upgrade_is_measured(watched: Watched) -> None:
    watched.complete(watched.answer(0.2, status=101), 3600.0, 5000)
    assert watched.load.times.typical == pytest.approx(0.2)


def test_groups_of_the_same_targets_share_their_load() -> None:
    machine, targets = LocalState(), [target(Client(), name=name) for name in "ab"]
    one, other = (group_load(group(*targets), machine) for _ in range(2))
    attempts = [
        OpenAttempt(each.state.observers, RequestRecord(), Clock()) for each in (*targets, *targets)
    ]
    assert one.in_flight == other.in_flight == 4
    for attempt in attempts:
        attempt.close()
    assert one.in_flight == 0


def test_a_group_that_gets_other_targets_keeps_its_load() -> None:
    machine, client = LocalState(), AddressedClient()
    west = upstream(client, name="west")
    west.replicas = Replicas(client, 100)  # type: ignore[arg-type]
    west.follow()
    changing = group(west.target("", 1), target(Client()))
    for last in range(1, 5):
        client.move({Address(f"10.0.0.{n}", 80): Share() for n in range(last)})
        load = group_load(changing, machine)
        OpenAttempt(changing.targets[-2].state.observers, RequestRecord(), Clock())
    assert load.in_flight == 4
    assert [len(each.state.observers) for each in changing.targets] == [1] * 5


def test_who_observes_later_is_not_told_of_the_end(watched: Watched) -> None:
    attempt = watched.begin()
    later = group_load(group(watched.target), LocalState())
    attempt.close()
    assert later.in_flight == 0


def test_targets_that_share_their_state_share_their_load() -> None:
    machine = LocalState()
    upstream = target(Client()).upstream
    first, second = upstream.target("a", 1, "a"), upstream.target("a", 2, "a")
    assert load_of(first, machine) is load_of(second, machine)
    assert len(first.state.observers) == 1
