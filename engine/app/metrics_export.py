"""Sets up the export of a worker's metrics by OTLP. Needs the extra `otel`."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from engine.app.telemetry import WorkerTelemetry, version
from engine.config.telemetry import MetricsExport
from engine.process.log_throttle import LogThrottle
from engine.telemetry.metrics.exporter import MetricsExporter, exports_collector
from engine.telemetry.metrics.otlp import MetricsEncoder
from engine.telemetry.tracing.otlp import resource_attributes
from engine.upstream.post_client import PostClient


def export_metrics(settings: MetricsExport, folder: Path, telemetry: WorkerTelemetry) -> None:
    """Export the page of `telemetry` in the background, as one service instance: the master, whose
    workers share the folder."""
    assert telemetry.page is not None
    gateway_version = version()
    resource = resource_attributes(os.environ, gateway_version, platform.node(), os.getppid())
    post = PostClient(settings.url, {"content-type": "application/x-protobuf", **settings.headers})
    exporter = MetricsExporter(
        folder,
        telemetry.page,
        MetricsEncoder(resource, gateway_version).encode,
        post,
        seconds=settings.interval,
        warn=LogThrottle().log,
    )
    telemetry.closing += [post.close, exporter.close]
    telemetry.collectors.append(exports_collector(exporter))
    if telemetry.background:
        exporter.start()
