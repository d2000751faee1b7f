"""Metrics of usage with the names of OpenTelemetry's repository for GenAI in October 2026."""

from __future__ import annotations

import pytest

from engine.exchange.outcome import Outcome
from engine.telemetry.metrics.inference import InferenceTables
from engine.telemetry.metrics.worker_metrics import WorkerMetrics
from engine.values.usage import NO_USAGE, Usage
from tests.support.recording_metrics import finished_exchange, record_all, values

CHAT = ("chat", "openai", "gpt-*")
USED = "gen_ai_client_inference_usage"
SIZES = "gen_ai_client_inference_operation"


@pytest.fixture
def metrics(tmp_path):
    recorder = WorkerMetrics(tmp_path, "USD", usage_tables=InferenceTables)
    yield recorder
    recorder.close()


def test_tokens_are_counters_by_modality(metrics):
    usage = Usage(100, 50, 30, 7, cache_write=9, audio_input=20, cached_audio=5, image_output=40)
    record_all(metrics, finished_exchange(usage=usage), finished_exchange(usage=usage))
    kinds = ("input", "output", "cache_read_input", "cache_write_input", "reasoning_output")
    assert {kind: values(metrics, f"{USED}_{kind}_tokens_total") for kind in kinds} == {
        "input": {(*CHAT, "unknown"): 160.0, (*CHAT, "audio"): 40.0},
        "output": {(*CHAT, "unknown"): 20.0, (*CHAT, "image"): 80.0},
        "cache_read_input": {(*CHAT, "unknown"): 50.0, (*CHAT, "audio"): 10.0},
        "cache_write_input": {(*CHAT, "unknown"): 18.0},
        "reasoning_output": {(*CHAT, "unknown"): 14.0},
    }


def test_the_sizes_and_the_duration_of_an_operation_are_histograms(metrics):
    record_all(metrics, finished_exchange())
    assert values(metrics, f"{SIZES}_input_tokens_sum") == {("", *CHAT): 10.0}
    assert values(metrics, f"{SIZES}_output_tokens_sum") == {("", *CHAT): 5.0}
    assert values(metrics, "gen_ai_client_inference_duration_seconds_sum") == {("", *CHAT): 0.3}


def test_the_former_names_are_gone_and_the_gateways_own_stay(metrics):
    record_all(metrics, finished_exchange(served_entry="claude"))
    page = metrics.page().decode()
    assert "gen_ai_client_token_usage" not in page
    assert "gen_ai_client_operation_duration" not in page
    assert values(metrics, "modelway_tokens_total") == {
        ("claude", "input", "one"): 10.0,
        ("claude", "output", "one"): 5.0,
        ("claude", "cached", "one"): 3.0,
    }
    assert values(metrics, "modelway_cost_total") == {("USD", "claude", "one"): 2.0}


def test_a_failed_operation_counts_no_tokens_and_says_its_error(metrics):
    record_all(metrics, finished_exchange(503, Outcome.FAILED, usage=NO_USAGE, cost=0))
    assert values(metrics, f"{USED}_input_tokens_total") == {(*CHAT, "unknown"): 0.0}
    assert values(metrics, f"{USED}_cache_read_input_tokens_total") == {}
    assert values(metrics, f"{SIZES}_input_tokens_count") == {("503", *CHAT): 1.0}
    assert values(metrics, "gen_ai_client_inference_duration_seconds_count") == {
        ("503", *CHAT): 1.0
    }


def test_other_operations_have_a_duration_alone(metrics):
    exchange = finished_exchange()
    exchange.operation = "openai.createEmbedding"
    record_all(metrics, exchange)
    assert [*values(metrics, "gen_ai_client_operation_duration_seconds_count").values()] == [1.0]
    assert "gen_ai_client_inference" not in metrics.page().decode()


def test_a_request_that_reached_no_upstream_is_no_operation(metrics):
    record_all(metrics, finished_exchange(429, Outcome.REFUSED, reached_upstream=False))
    assert "gen_ai_" not in metrics.page().decode()
