"""The observers and collectors of traces, and the export of metrics, as the config asks."""

from __future__ import annotations

import pytest

pytest.importorskip("opentelemetry.proto", reason="needs the extra otel")

from engine.app.services.exporters import export_metrics, tracing
from engine.app.services.telemetry import WorkerTelemetry
from engine.config.telemetry import MetricsExport
from engine.exchange.request_record import Attempt
from engine.values.usage import Usage
from tests.support.collector import collector
from tests.support.exchanges import new_exchange
from tests.support.rehearsing import CONFIG, planned

ATTEMPT = Attempt("main", "main", "m", "", 200, 0.0, 0.2)


@pytest.fixture
def receiver():
    """A collector of traces."""
    with collector() as receiver:
        yield receiver


def export(folder, receiver, more="", *, background=True, semconv="v1.41"):
    """Export the spans of one exchange with one attempt, and close; the telemetry of its worker."""
    traces = f"traces: {{endpoint: '{receiver.url}'{more}}}"
    traces = f"telemetry: {{semconv: {semconv}, {traces}}}\n"
    config = planned(folder, CONFIG + traces).plan.config
    telemetry = WorkerTelemetry(background=background)
    begin = tracing(config, config.telemetry.traces, telemetry)
    record = {"attempts": [ATTEMPT], "usage": Usage(20, 5, cache_write=3)}
    exchange = new_exchange("GET", "/v1/items/7", record=record)
    begin(exchange)
    exchange.trace.attempt_headers([])
    for observer in telemetry.observers:
        observer(exchange)
    for close in reversed(telemetry.closing):
        close()
    return telemetry


def test_the_span_of_an_exchange_is_exported_before_the_worker_ends(tmp_path, receiver):
    export(tmp_path, receiver)
    span, _ = receiver.spans()
    assert (span.kind, span.attributes["http.request.method"]) == ("server", "GET")


@pytest.mark.parametrize(
    ("semconv", "name"), [("v1.41", "cache_creation"), ("genai-2026-10", "cache_write")]
)
def test_attributes_have_the_names_that_the_config_selects(tmp_path, receiver, semconv, name):
    export(tmp_path, receiver, semconv=semconv)
    _, span = receiver.spans()
    assert {key: value for key, value in span.attributes.items() if ".cache" in key} == {
        f"gen_ai.usage.{name}.input_tokens": 3
    }


def test_the_headers_of_the_config_go_to_the_collector(tmp_path, receiver):
    export(tmp_path, receiver, ", headers: {x-key: k}")
    assert receiver.requests[0].values("x-key") == ["k"]


def test_a_share_of_the_traces_is_exported(tmp_path, receiver):
    export(tmp_path, receiver, ", sample: 0")
    assert receiver.requests == []


def test_without_work_in_the_background_nothing_is_exported(tmp_path, receiver):
    export(tmp_path, receiver, background=False)
    assert receiver.requests == []


def test_the_metrics_page_reads_the_counts_of_the_exporter(tmp_path, receiver):
    (read,) = export(tmp_path, receiver).collectors
    counts = {metric.name: value for metric, _, value in read()}
    assert counts["modelway_trace_spans_sent_total"] == 2


def test_a_worker_exports_the_last_time_when_it_closes(tmp_path):
    """The connection is closed behind the exporter, which uses it until then."""
    telemetry = WorkerTelemetry(page=lambda: b"", background=False)
    export_metrics(MetricsExport("http://127.0.0.1:9/v1/metrics"), tmp_path, telemetry)
    assert [close.__qualname__ for close in telemetry.closing] == [
        "PostClient.close",
        "MetricsExporter.close",
    ]
    (collector,) = telemetry.collectors
    assert [sample[1:] for sample in collector()] == [(("sent",), 0), (("failed",), 0)]
