"""Tokens, money, and the metrics of OpenTelemetry for GenAI clients."""

from __future__ import annotations

import pytest

from engine.exchange.outcome import Outcome
from tests.support.recording_metrics import finished_exchange, record_all, values


def test_tokens_and_cost_belong_to_the_model_that_served(metrics):
    record_all(metrics, finished_exchange(served_entry="claude"))
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
    record_all(metrics, finished_exchange(status, outcome))
    (key,) = values(metrics, "gen_ai_client_operation_duration_seconds_count")
    assert key == (error, "chat", "openai", "gpt-*")
