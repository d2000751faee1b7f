"""The health of one target: what its attempts count as, when it is asked last, how it returns."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from engine.config.health import EjectionConfig
from engine.upstream.health.outliers import Activity
from engine.upstream.health.target_health import HealthSettings, TargetHealth
from engine.upstream.targets.target_state import FIRST, LAST
from engine.values.machine_state import LocalState
from tests.support.each import each
from tests.support.replicas import fail, open_attempt, succeed

CONFIG = EjectionConfig()
NOW = 100_000.0
BAD = Activity(answers=10, failures=10, latency=2.0, waiting=4, silent=5.0)


def target(machine: LocalState | None = None, **options: object) -> TargetHealth:
    server = options.pop("server", None)
    options = {"used": set(), "dice": lambda: 0.5, "config": CONFIG, **options}
    settings = HealthSettings("main", machine or LocalState(), **options)  # type: ignore[arg-type]
    options = {"server": server, "key": ("", "m", "10.0.0.1:80")}
    return TargetHealth("main//m@10.0.0.1:80", settings, **options)  # type: ignore[arg-type]


def activity(health: TargetHealth) -> Activity:
    return health.member(NOW + 1).activity


@pytest.fixture
def health() -> TargetHealth:
    health = target()
    health.member(NOW)  # the beginning of its window
    return health


def test_an_answer_counts_with_its_time_to_the_first_content(health: TargetHealth) -> None:
    succeed(health, open_attempt(health, NOW), NOW + 0.5)
    assert activity(health)._replace(latency=0) == Activity(answers=1)
    assert activity(health).latency == pytest.approx(0.5, rel=0.001)


@each(
    "failure, count",
    [("connect", 1), ("reset", 1), ("5xx", 1), ("408", 1), ("error", 1), ("fatal", 1), ("429", 0),
     ("credential", 0)],
)  # fmt: skip
def test_failures_of_the_target_count(failure: str, count: int) -> None:
    health = target()
    health.member(NOW)
    fail(health, open_attempt(health, NOW), failure)
    assert activity(health)[:4] == (0, count, 0.0, 0)


def test_a_response_that_breaks_off_is_an_answer_and_a_failure(health: TargetHealth) -> None:
    attempt = open_attempt(health, NOW)
    attempt.first_content = NOW
    health.answered(attempt)
    fail(health, attempt, "reset")
    assert activity(health)[:2] == (1, 1)
    assert activity(health).waiting == 0


def test_a_caller_who_leaves_says_nothing_of_the_target(health: TargetHealth) -> None:
    attempt = open_attempt(health, NOW)
    assert activity(health).waiting == 1
    health.ended(attempt)
    assert activity(health) == Activity()


def test_it_is_among_the_used_ones_from_the_first_attempt_on() -> None:
    used: set[TargetHealth] = set()
    health = target(used=used)
    assert not used
    open_attempt(health, NOW)
    assert used == {health}


def test_it_is_asked_last_for_the_time_of_its_ejection() -> None:
    health = target(config=replace(CONFIG, slow_start=0.0))
    assert health.turn(NOW) == FIRST
    health.eject(NOW, "errors", BAD)
    turns = [health.turn(NOW + after) for after in (0, 29, 30, 31)]
    assert turns == [LAST, LAST, FIRST, FIRST]
    assert health.reason == "errors"


def test_the_next_ejection_lasts_twice_as_long_up_to_the_longest() -> None:
    health, now, lasted = target(), NOW, []
    for _ in range(6):
        health.eject(now, "errors", BAD)
        lasted.append(health.ejected_until - now)
        now = health.ejected_until + 1
    assert lasted == [30, 60, 120, 240, 300, 300]


def test_after_a_good_time_an_ejection_is_short_again() -> None:
    health = target()
    health.eject(NOW, "errors", BAD)
    health.eject(NOW + 31, "errors", BAD)
    later = health.ejected_until + CONFIG.max_time
    health.eject(later, "errors", BAD)
    assert health.ejected_until == later + 30


@each("after, dice, last", [(30, 0.0, True), (33, 0.09, False), (33, 0.11, True), (45, 0.49, False),
                            (45, 0.51, True), (59, 0.99, True), (60, 0.99, False)])  # fmt: skip
def test_it_returns_with_a_growing_share(after: float, dice: float, last: bool) -> None:
    health = target(dice=lambda: dice)
    health.eject(NOW, "errors", BAD)
    assert health.turn(NOW + after) == (LAST if last else FIRST)


def test_it_is_asked_last_while_its_server_fails_its_probes() -> None:
    machine = LocalState()
    server = SimpleNamespace(failing_until=0.0)
    health = target(machine, server=server)
    assert not health.is_out(NOW)
    server.failing_until = NOW + 15
    assert health.turn(NOW) == LAST
    assert health.is_out(NOW)
    assert not health.is_ejected(NOW)
    assert not target(machine).is_out(NOW)  # without probes the number is not read


def test_times_of_before_a_restart_of_the_machine_are_ignored() -> None:
    health = target()
    health.eject(NOW, "errors", BAD)
    assert health.turn(5.0) == FIRST
    assert not health.is_out(5.0)


def test_just_after_a_restart_of_the_machine_a_target_is_in() -> None:
    assert target(dice=lambda: 0.99).turn(1.0) == FIRST


def test_what_happens_while_it_is_out_does_not_count_when_it_returns() -> None:
    health = target()
    health.eject(NOW, "errors", BAD)
    for _ in range(20):
        fail(health, open_attempt(health, NOW))
    health.member(NOW + 29)
    assert health.member(NOW + 31).activity == Activity()


@each(
    "reason, words",
    [
        ("errors", "10 of 20 attempts failed"),
        ("latency", "2 s to the first content, far more than others"),
        ("silence", "4 requests wait, and none was answered for 5 s"),
    ],
)
def test_the_log_says_why_it_is_ejected(
    reason: str, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.clear()
    with caplog.at_level(logging.WARNING, "modelway"):
        target().eject(NOW, reason, BAD)
    assert caplog.messages == [f"target main/m/10.0.0.1:80 is asked last for 30 s: {words}"]
