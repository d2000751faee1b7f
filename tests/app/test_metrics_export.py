"""The export of metrics as the config asks for it."""

from __future__ import annotations

import pytest

pytest.importorskip("opentelemetry.proto", reason="needs the extra otel")

from engine.app.metrics_export import export_metrics
from engine.app.telemetry import WorkerTelemetry
from engine.config.telemetry import MetricsExport


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
