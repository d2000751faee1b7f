"""Sets up the export of a worker's traces and metrics by OTLP. Needs the extra `otel`."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from engine import dialects
from engine.app.services.telemetry import WorkerTelemetry, version
from engine.config.config import Config
from engine.config.telemetry import V1_41, MetricsExport, Traces
from engine.exchange.exchange import Observer
from engine.process.log_throttle import LogThrottle
from engine.telemetry.metrics.exporter import MetricsExporter, exports_collector
from engine.telemetry.metrics.otlp import MetricsEncoder
from engine.telemetry.tracing import spans
from engine.telemetry.tracing.exporter import Exporter, exporter_collector
from engine.telemetry.tracing.otlp import Encoder, rejected_spans, resource_attributes
from engine.telemetry.tracing.spans import Peer, Tracer
from engine.telemetry.tracing.trace_context import Sampler
from engine.upstream.client.address import origin_of
from engine.upstream.service_calls import PostClient

_MEDIA_TYPE = {"content-type": "application/x-protobuf"}


def tracing(config: Config, traces: Traces, telemetry: WorkerTelemetry) -> Observer:
    """The observer that is called when an exchange begins; other parts are added to `telemetry`.

    Starts the export of spans in the background.
    """
    gateway_version = version()
    encoder = Encoder(
        resource_attributes(os.environ, gateway_version, platform.node(), os.getpid()),
        gateway_version,
    )
    post = PostClient(traces.url, {**_MEDIA_TYPE, **traces.headers})
    exporter = Exporter(encoder.encode, post, rejected_spans, warn=LogThrottle().log)
    if telemetry.background:
        exporter.start()
    telemetry.closing += [post.close, exporter.close]
    telemetry.collectors.append(exporter_collector(exporter))
    names = spans.V1_41 if config.telemetry.semconv == V1_41 else spans.GENAI_2026_10
    tracer = Tracer(Sampler(traces.sample), exporter.add, _peers(config), names)
    telemetry.observers.append(tracer.end)
    return tracer.begin


def _peers(config: Config) -> dict[str, Peer]:
    origins = {name: origin_of(upstream.url) for name, upstream in config.upstreams.items()}
    return {
        name: Peer(_dialect(config, name), origin.unix_path or origin.host, origin.port)
        for name, origin in origins.items()
    }


def _dialect(config: Config, upstream: str) -> dialects.Dialect | None:
    name = config.upstreams[upstream].dialect
    return dialects.get(name) if name else None


def export_metrics(settings: MetricsExport, folder: Path, telemetry: WorkerTelemetry) -> None:
    """Export the page of `telemetry` in the background, as one service instance: the master, whose
    workers share the folder."""
    assert telemetry.page is not None
    gateway_version = version()
    resource = resource_attributes(os.environ, gateway_version, platform.node(), os.getppid())
    post = PostClient(settings.url, {**_MEDIA_TYPE, **settings.headers})
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
