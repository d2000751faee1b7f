"""Exchanges are counted, and counts are summed over workers, also over dead ones."""

from __future__ import annotations

import os
import signal

import pytest
from prometheus_client.parser import text_string_to_metric_families

from engine.exchange.record import Attempt, Outcome, Traffic
from engine.telemetry.metrics import process, requests, stores
from engine.telemetry.metrics.recorder import MetricsRecorder
from engine.values.usage import Usage
from tests.support.exchanges import new_exchange


@pytest.fixture
def metrics(tmp_path):
    made = MetricsRecorder(tmp_path, "USD")
    yield made
    made.close()


def over(status=200, outcome=Outcome.COMPLETE, **known):
    record = {
        "requested_entry": "gpt-*",
        "served_entry": "gpt-*",
        "upstream": "one",
        "reached_upstream": True,
        "usage": Usage(10, 5, 3),
        "cost": 2_000_000_000,
        "first_byte": 0.2,
        "duration": 0.3,
        "wait_time": 0.299,
        "attempts": [Attempt("one", "one", "m", "", 200, 0.0, 0.2)],
        "status": status,
        "outcome": outcome,
    }
    return new_exchange(
        operation="openai.createChatCompletion",
        model="whatever a caller says",
        record=record | known,
    )


def ended(made, *exchanges):
    """They are over, and noted together."""
    for exchange in exchanges:
        made(exchange)
    made.record(exchanges)


def values(made, name):
    """The samples of a metric on the page, by the values of their labels."""
    found = {}
    for family in text_string_to_metric_families(made.page().decode()):
        for sample in family.samples:
            if sample.name == name:
                found[tuple(sample.labels[key] for key in sorted(sample.labels))] = sample.value
    return found


def test_requests_are_counted_by_labels_of_the_config(metrics):
    ended(metrics, over())
    ended(metrics, over())
    ended(metrics, over(429, Outcome.REFUSED))
    operation = "openai.createChatCompletion"
    assert values(metrics, "modelway_requests_total") == {
        ("gpt-*", operation, "complete", "2xx", "one"): 2.0,
        ("gpt-*", operation, "refused", "4xx", "one"): 1.0,
    }
    assert b"whatever a caller says" not in metrics.page()


def test_times_are_recorded_in_histograms(metrics):
    ended(metrics, over())
    buckets = values(metrics, "modelway_request_duration_seconds_bucket")
    at = {key[0]: value for key, value in buckets.items()}
    assert (at["0.25"], at["0.5"], at["+Inf"]) == (0.0, 1.0, 1.0)
    assert list(values(metrics, "modelway_request_duration_seconds_sum").values()) == [0.3]
    assert list(values(metrics, "modelway_time_to_first_byte_seconds_sum").values()) == [0.2]
    (own,) = values(metrics, "modelway_gateway_overhead_seconds_sum").values()
    assert own == pytest.approx(0.001)


def test_a_value_on_a_bound_is_in_the_bucket_of_that_bound(metrics):
    ended(metrics, over(duration=0.5))
    buckets = values(metrics, "modelway_request_duration_seconds_bucket")
    assert {key[0]: value for key, value in buckets.items()}["0.5"] == 1.0


def test_tokens_and_cost_belong_to_the_model_that_served(metrics):
    ended(metrics, over(served_entry="claude"))
    assert values(metrics, "modelway_tokens_total") == {
        ("claude", "input", "one"): 10.0,
        ("claude", "output", "one"): 5.0,
        ("claude", "cached", "one"): 3.0,
    }
    assert values(metrics, "modelway_cost_total") == {("USD", "claude", "one"): 2.0}
    assert values(metrics, "gen_ai_client_token_usage_sum") == {
        ("chat", "openai", "gpt-*", "input"): 10.0,
        ("chat", "openai", "gpt-*", "output"): 5.0,
    }


@pytest.mark.parametrize(
    ("status", "outcome", "error"),
    [
        (200, Outcome.COMPLETE, ""),
        (503, Outcome.FAILED, "503"),
        (200, Outcome.UPSTREAM_CUT, "upstream_cut"),
    ],
)
def test_a_failure_has_an_error_type(metrics, status, outcome, error):
    ended(metrics, over(status, outcome))
    (key,) = values(metrics, "gen_ai_client_operation_duration_seconds_count")
    assert key == (error, "chat", "openai", "gpt-*")


def test_attempts_are_counted_by_result(metrics):
    tries = [
        Attempt("one", "one", "m", "connect", 0, 0.0, 0.1),
        Attempt("two", "two", "m", "", 200, 0.1, 0.1),
    ]
    ended(metrics, over(attempts=tries))
    assert values(metrics, "modelway_upstream_attempts_total") == {
        ("connect", "one"): 1.0,
        ("ok", "two"): 1.0,
    }
    assert values(metrics, "modelway_upstream_retries_total") == {("two",): 1.0}


def test_a_single_failed_attempt_is_counted(metrics):
    ended(
        metrics,
        over(502, Outcome.FAILED, attempts=[Attempt("one", "one", "m", "connect", 0, 0.0, 0.1)]),
    )
    assert values(metrics, "modelway_upstream_attempts_total") == {("connect", "one"): 1.0}


def test_refusals_and_limits_are_counted_by_reason(metrics):
    ended(metrics, over(400, Outcome.REFUSED, code="invalid_type"))
    ended(metrics, over(429, Outcome.REFUSED, code="rate_limit_exceeded", limit="rate_limit"))
    ended(metrics, over(502, Outcome.FAILED, code="upstream_error"))
    assert {key[0] for key in values(metrics, "modelway_refusals_total")} == {
        "invalid_type",
        "rate_limit_exceeded",
    }
    assert values(metrics, "modelway_limits_hit_total") == {("rate_limit",): 1.0}


def test_uncounted_requests_are_counted(metrics):
    ended(metrics, over(uncounted=True))
    assert values(metrics, "modelway_counters_away_total") == {(): 1.0}


def test_a_stream_records_its_mean_and_longest_gap(metrics):
    ended(metrics, over(stream=True, events=11, longest_gap=0.08, response_end=0.0, duration=1.2))
    assert list(values(metrics, "modelway_stream_event_gap_seconds_sum").values()) == [
        pytest.approx(0.1)
    ]
    assert list(values(metrics, "modelway_stream_longest_gap_seconds_sum").values()) == [0.08]


def test_sessions_are_counted_and_unknown_close_codes_share_a_label(metrics):
    for code in (1000, 4999, 4998):
        exchange = over(101)
        exchange.traffic = Traffic(code=code)
        exchange.traffic.sent.messages = 2
        ended(metrics, exchange)
    assert {k[0]: v for k, v in values(metrics, "modelway_websocket_closes_total").items()} == {
        "1000": 1.0,
        "other": 2.0,
    }
    assert sum(values(metrics, "modelway_websocket_messages_total").values()) == 6.0


def test_requests_without_operation_are_counted(metrics):
    exchange = new_exchange("", "", "", {}, "req_1")
    exchange.record.end(400, Outcome.REFUSED, "bad_request")
    ended(metrics, exchange)
    assert values(metrics, "modelway_requests_total") == {("", "", "refused", "4xx", ""): 1.0}


def test_samples_are_collected_and_counters_only_grow(tmp_path):
    said = [5.0]

    def read():
        yield requests.IN_FLIGHT, (), said[0]
        yield stores.LEDGER_LOST, (), said[0]

    made = MetricsRecorder(tmp_path, collectors=[read])
    assert values(made, "modelway_requests_in_flight") == {(): 5.0}
    said[0] = 7.0
    assert values(made, "modelway_requests_in_flight") == {(): 7.0}
    assert values(made, "modelway_ledger_rows_lost_total") == {(): 7.0}
    made.close()
    said[0] = 1.0  # a worker that begins anew
    again = MetricsRecorder(tmp_path, collectors=[read])
    assert values(again, "modelway_requests_in_flight") == {(): 1.0}
    assert values(again, "modelway_ledger_rows_lost_total") == {(): 8.0}
    again.close()


def test_a_collector_that_raises_is_logged_and_the_others_run(tmp_path, caplog):
    made = MetricsRecorder(
        tmp_path, collectors=[lambda: 1 / 0, lambda: [(process.WORKERS, (), 1.0)]]
    )
    assert values(made, "modelway_workers") == {(): 1.0}
    assert "a metric cannot be collected" in caplog.text
    made.close()


def test_the_counts_of_a_killed_worker_remain(tmp_path):
    made = MetricsRecorder(tmp_path, collectors=[lambda: [(process.WORKERS, (), 1.0)]])
    for _ in range(3):
        reading, writing = os.pipe()
        if not (pid := os.fork()):
            other = MetricsRecorder(tmp_path, collectors=[lambda: [(process.WORKERS, (), 1.0)]])
            other.collect()
            for _ in range(10):
                ended(other, over())
            os.write(writing, b"1")
            signal.pause()
        assert os.read(reading, 1) == b"1"
        assert values(made, "modelway_workers") == {(): 2.0}
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(reading)
        os.close(writing)
    ended(made, over())
    assert list(values(made, "modelway_requests_total").values()) == [31.0]
    assert values(made, "modelway_workers") == {(): 1.0}
    assert len(list(tmp_path.glob("counter_*.db"))) == 2
    made.close()


def test_exchanges_recorded_together_count_as_alone(metrics, tmp_path):
    every = [
        over(duration=0.1),
        over(duration=7.0, served_entry="claude"),
        over(503, Outcome.FAILED, attempts=[], duration=0.1, code="upstream_unavailable"),
        over(stream=True, events=11, longest_gap=0.08, response_end=0.0, duration=1.2),
        over(uncounted=True, usage=Usage(10, 0, 0), cost=0),
    ]
    (tmp_path / "alone").mkdir()
    alone = MetricsRecorder(tmp_path / "alone", "USD")
    for each in every:
        ended(alone, each)
    ended(metrics, *every)
    told = [
        sorted(line for line in made.page().decode().splitlines() if " 0.0" not in line)
        for made in (alone, metrics)
    ]
    alone.close()
    assert told[0] == told[1]


def test_an_exchange_that_cannot_be_recorded_does_not_affect_others(metrics, caplog):
    metrics.page()
    ended(metrics, *(over(duration=duration) for duration in (0.1, "no number", 0.1)))
    counted = values(metrics, "modelway_request_duration_seconds_count")
    assert sum(counted.values()) == 2.0
    (tokens,) = {v for k, v in values(metrics, "modelway_tokens_total").items() if "input" in k}
    assert tokens == 20.0
    assert caplog.text.count("request req_1: its metrics are lost") == 1
