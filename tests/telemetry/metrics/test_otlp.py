"""The page of metrics as OTLP's messages."""

from __future__ import annotations

import pytest

pytest.importorskip("opentelemetry.proto", reason="needs the extra otel")

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import AGGREGATION_TEMPORALITY_CUMULATIVE

from engine.telemetry.metrics import otlp
from engine.telemetry.metrics.inference import InferenceTables
from engine.telemetry.metrics.otlp import Interval, MetricsEncoder
from engine.telemetry.metrics.worker_metrics import WorkerMetrics
from tests.support.metrics import METRICS
from tests.support.recording_metrics import finished_exchange, record_all


def exported(page):
    encoder = MetricsEncoder({"service.name": "modelway"}, "1.2")
    bodies = list(encoder.encode(page, Interval(1_000, 2_000)))
    return [ExportMetricsServiceRequest.FromString(body) for body in bodies]


def metrics_of(page):
    scopes = [request.resource_metrics[0].scope_metrics[0] for request in exported(page)]
    return {metric.name: metric for scope in scopes for metric in scope.metrics}


def labels(point):
    return {pair.key: pair.value.string_value for pair in point.attributes}


def test_a_counter_is_a_cumulative_sum_without_total_in_its_name(metrics):
    record_all(metrics, finished_exchange(), finished_exchange(503))
    metric = metrics_of(metrics.page().decode())["modelway_requests"]
    assert metric.sum.is_monotonic
    assert metric.sum.aggregation_temporality == AGGREGATION_TEMPORALITY_CUMULATIVE
    found = {labels(point)["status"]: point for point in metric.sum.data_points}
    assert {status: point.as_double for status, point in found.items()} == {"2xx": 1.0, "5xx": 1.0}
    assert {(p.start_time_unix_nano, p.time_unix_nano) for p in found.values()} == {(1_000, 2_000)}


def test_a_histogram_has_the_count_of_each_bucket(metrics):
    exchanges = [finished_exchange(duration=seconds) for seconds in (0.004, 0.02, 0.02, 10_000.0)]
    record_all(metrics, *exchanges)
    metric = metrics_of(metrics.page().decode())["modelway_request_duration_seconds"]
    (point,) = metric.histogram.data_points
    assert (metric.unit, point.count, point.sum) == ("s", 4, pytest.approx(10_000.044))
    buckets = dict(zip([*point.explicit_bounds, "more"], point.bucket_counts, strict=True))
    assert {bound: n for bound, n in buckets.items() if n} == {0.005: 1, 0.025: 2, "more": 1}


def test_metrics_of_the_genai_conventions_have_their_names(metrics):
    record_all(metrics, finished_exchange())
    found = metrics_of(metrics.page().decode())
    usage = found["gen_ai.client.token.usage"]
    assert usage.unit == "{token}"
    assert labels(usage.histogram.data_points[0]) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-*",
        "gen_ai.token.type": "input",
    }
    (duration,) = found["gen_ai.client.operation.duration"].histogram.data_points
    assert "error.type" in labels(duration)


def test_every_metric_of_the_genai_conventions_has_its_points():
    names = {name for name, _ in otlp.GEN_AI_NAMES.values()}
    assert all(name.startswith("gen_ai.client.") for name in names)
    defined = {metric.name.removesuffix("_total") for metric in METRICS}
    assert {name for name in defined if name.startswith("gen_ai_")} == {*otlp.GEN_AI_NAMES}


def test_a_counter_of_tokens_has_its_unit_and_modality(tmp_path):
    recorder = WorkerMetrics(tmp_path, "USD", usage_tables=InferenceTables)
    record_all(recorder, finished_exchange())
    metric = metrics_of(recorder.page().decode())["gen_ai.client.inference.usage.input_tokens"]
    recorder.close()
    assert (metric.unit, metric.sum.is_monotonic) == ("{token}", True)
    assert labels(metric.sum.data_points[0])["gen_ai.token.modality"] == "unknown"


def test_a_gauge_is_a_gauge():
    metric = metrics_of("# HELP a_bytes Bytes.\n# TYPE a_bytes gauge\na_bytes 5\n")["a_bytes"]
    assert (metric.gauge.data_points[0].as_double, metric.unit, metric.description) == (
        5.0,
        "By",
        "Bytes.",
    )


def test_a_large_page_is_several_requests(monkeypatch):
    monkeypatch.setattr(otlp, "MAX_SERIES", 2)
    page = "".join(f"# TYPE {name} gauge\n{name} 1\n" for name in "abc")
    assert [len(r.resource_metrics[0].scope_metrics[0].metrics) for r in exported(page)] == [2, 1]
