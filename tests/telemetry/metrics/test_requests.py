"""Requests are counted by result, timed, and counted by the reason of their refusal."""

from __future__ import annotations

import pytest

from engine.exchange.outcome import Outcome
from engine.exchange.request_record import Attempt
from tests.support.exchanges import new_exchange
from tests.support.recording_metrics import finished_exchange, record_all, values


def test_requests_are_counted_by_labels_of_the_config(metrics):
    record_all(metrics, finished_exchange())
    record_all(metrics, finished_exchange())
    record_all(metrics, finished_exchange(429, Outcome.REFUSED))
    operation = "openai.createChatCompletion"
    assert values(metrics, "modelway_requests_total") == {
        ("gpt-*", operation, "complete", "2xx", "one"): 2.0,
        ("gpt-*", operation, "refused", "4xx", "one"): 1.0,
    }
    assert b"whatever a caller says" not in metrics.page()


def test_times_are_recorded_in_histograms(metrics):
    record_all(metrics, finished_exchange())
    buckets = values(metrics, "modelway_request_duration_seconds_bucket")
    by_bound = {key[0]: value for key, value in buckets.items()}
    assert (by_bound["0.25"], by_bound["0.5"], by_bound["+Inf"]) == (0.0, 1.0, 1.0)
    assert list(values(metrics, "modelway_request_duration_seconds_sum").values()) == [0.3]
    assert list(values(metrics, "modelway_time_to_first_byte_seconds_sum").values()) == [0.2]
    (overhead,) = values(metrics, "modelway_gateway_overhead_seconds_sum").values()
    assert overhead == pytest.approx(0.001)


def test_a_value_on_a_bound_is_in_the_bucket_of_that_bound(metrics):
    record_all(metrics, finished_exchange(duration=0.5))
    buckets = values(metrics, "modelway_request_duration_seconds_bucket")
    assert {key[0]: value for key, value in buckets.items()}["0.5"] == 1.0


def test_refusals_and_limits_are_counted_by_reason(metrics):
    record_all(metrics, finished_exchange(400, Outcome.REFUSED, code="invalid_type"))
    record_all(
        metrics,
        finished_exchange(429, Outcome.REFUSED, code="rate_limit_exceeded", limit="rate_limit"),
    )
    record_all(metrics, finished_exchange(502, Outcome.FAILED, code="upstream_error"))
    assert {key[0] for key in values(metrics, "modelway_refusals_total")} == {
        "invalid_type",
        "rate_limit_exceeded",
    }
    assert values(metrics, "modelway_limits_hit_total") == {("rate_limit",): 1.0}


def test_uncounted_requests_are_counted(metrics):
    record_all(metrics, finished_exchange(uncounted=True))
    assert values(metrics, "modelway_counters_away_total") == {(): 1.0}


def test_requests_without_operation_are_counted(metrics):
    exchange = new_exchange("", "", "", {}, "req_1")
    exchange.record.end(400, Outcome.REFUSED, "bad_request")
    record_all(metrics, exchange)
    assert values(metrics, "modelway_requests_total") == {("", "", "refused", "4xx", ""): 1.0}


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
