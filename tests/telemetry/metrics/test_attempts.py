"""Attempts are counted by result."""

from __future__ import annotations

from engine.exchange.request_record import Attempt, Outcome
from tests.support.recording_metrics import finished_exchange, record_all, values


def test_attempts_are_counted_by_result(metrics):
    attempts = [
        Attempt("one", "one", "m", "connect", 0, 0.0, 0.1),
        Attempt("two", "two", "m", "", 200, 0.1, 0.1),
    ]
    record_all(metrics, finished_exchange(attempts=attempts))
    assert values(metrics, "modelway_upstream_attempts_total") == {
        ("connect", "one"): 1.0,
        ("ok", "two"): 1.0,
    }
    assert values(metrics, "modelway_upstream_retries_total") == {("two",): 1.0}


def test_a_single_failed_attempt_is_counted(metrics):
    record_all(
        metrics,
        finished_exchange(
            502, Outcome.FAILED, attempts=[Attempt("one", "one", "m", "connect", 0, 0.0, 0.1)]
        ),
    )
    assert values(metrics, "modelway_upstream_attempts_total") == {("connect", "one"): 1.0}
