"""When a circuit breaker opens, lets a probe pass, and closes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.config.upstreams import BreakerConfig
from engine.upstream.targets.breaker import CircuitBreaker

FAILURES, WINDOW, COOLDOWN = 3, 10.0, 5.0


def breaker(*failed: float) -> CircuitBreaker:
    circuit = CircuitBreaker(BreakerConfig(FAILURES, WINDOW, COOLDOWN))
    for moment in failed:
        circuit.failed(moment)
    return circuit


OPENED = (0.0, 1.0, 2.0)  # open at 2, half-open from 7 on


@pytest.mark.parametrize(
    ("failed", "now", "passes"),
    [
        ((), 0.0, True),
        ((0.0, 1.0), 1.0, True),
        (OPENED, 2.0, False),
        (OPENED, 6.999, False),
        (OPENED, 7.0, True),
        # Failures add up within the window only.
        ((0.0, 1.0, 9.999), 9.999, False),
        ((0.0, 1.0, 10.0), 10.0, True),
        ((0.0, 10.0, 20.0, 30.0), 30.0, True),
        ((0.0, 8.0, 11.0, 12.0), 12.0, False),
    ],
)
def test_enough_failures_in_the_window_open_a_breaker(
    failed: Sequence[float], now: float, passes: bool
) -> None:
    assert breaker(*failed).allows(now) is passes


def test_one_probe_passes_a_half_open_breaker() -> None:
    circuit = breaker(*OPENED)
    assert [circuit.allows(moment) for moment in (7.0, 7.0, 8.0, 11.9)] == [
        True,
        False,
        False,
        False,
    ]


def test_a_successful_probe_closes_a_breaker() -> None:
    circuit = breaker(*OPENED)
    assert circuit.allows(7.0)
    circuit.succeeded()
    assert circuit.allows(7.0)
    assert circuit.allows(7.0)


def test_a_failed_probe_opens_a_breaker_for_another_cooldown() -> None:
    circuit = breaker(*OPENED)
    assert circuit.allows(7.0)
    circuit.failed(8.0)
    assert not circuit.allows(12.9)
    assert circuit.allows(13.0)


def test_a_probe_without_a_result_is_replaced_after_a_cooldown() -> None:
    circuit = breaker(*OPENED)
    assert circuit.allows(7.0)
    assert not circuit.allows(11.9)
    assert circuit.allows(12.0)


def test_a_closed_breaker_counts_from_zero() -> None:
    circuit = breaker(*OPENED)
    assert circuit.allows(7.0)
    circuit.succeeded()
    circuit.failed(7.0)
    circuit.failed(7.0)
    assert circuit.allows(7.0)
    circuit.failed(7.0)
    assert not circuit.allows(7.0)


def test_late_failures_do_not_keep_a_breaker_open_for_longer() -> None:
    circuit = breaker(*OPENED)
    circuit.failed(6.0)
    assert circuit.allows(7.0)


def test_a_success_does_not_clear_the_failures_of_a_closed_breaker() -> None:
    circuit = breaker(0.0, 1.0)
    circuit.succeeded()
    circuit.failed(2.0)
    assert not circuit.allows(2.0)


@pytest.mark.parametrize(
    ("failed", "now", "seconds"),
    [((), 3.0, 0.0), (OPENED, 2.0, 5.0), (OPENED, 6.5, 0.5), (OPENED, 9.0, 0.0)],
)
def test_the_wait_of_an_open_breaker(failed: Sequence[float], now: float, seconds: float) -> None:
    assert breaker(*failed).wait(now) == seconds


STEPS = st.lists(
    st.tuples(st.sampled_from(["ask", "fail"]), st.floats(0, 4)), min_size=10, max_size=80
)


@given(STEPS, st.integers(1, 4))
def test_an_open_breaker_lets_at_most_one_probe_pass_per_cooldown(
    steps: list[tuple[str, float]], limit: int
) -> None:
    circuit, now = CircuitBreaker(BreakerConfig(limit, WINDOW, COOLDOWN)), 0.0
    for _ in range(limit):
        circuit.failed(now)
    last = now  # when it opened, then each probe
    for step, later in steps:
        now += later
        if step == "fail":
            circuit.failed(now)
        elif circuit.allows(now):
            assert now - last >= COOLDOWN - 1e-9
            last = now


@given(st.lists(st.floats(0, 100), max_size=50).map(sorted))
def test_a_breaker_opens_exactly_when_the_window_is_full(moments: list[float]) -> None:
    circuit = CircuitBreaker(BreakerConfig(FAILURES, WINDOW, 1000.0))
    opened = False
    for index, moment in enumerate(moments):
        circuit.failed(moment)
        recent = [m for m in moments[: index + 1] if m > moment - WINDOW]
        opened = opened or len(recent) >= FAILURES
        assert circuit.allows(moment) is not opened
