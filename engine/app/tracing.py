"""Sets up the traces of a worker. Needs the extra `otel`."""

from __future__ import annotations

import os
import platform

from engine import dialects
from engine.app.telemetry import WorkerTelemetry, version
from engine.config.config import Config
from engine.config.telemetry import Traces
from engine.exchange.exchange import Observer
from engine.process.log_throttle import LogThrottle
from engine.telemetry.tracing.exporter import Exporter, exporter_collector
from engine.telemetry.tracing.otlp import Encoder, rejected_spans, resource_attributes
from engine.telemetry.tracing.spans import Peer, Tracer
from engine.telemetry.tracing.trace_context import Sampler
from engine.upstream.client.address import origin_of
from engine.upstream.post_client import PostClient


def tracing(config: Config, traces: Traces, telemetry: WorkerTelemetry) -> Observer:
    """The observer that is called when an exchange begins; other parts are added to `telemetry`.

    Starts the export of spans in the background.
    """
    gateway_version = version()
    encoder = Encoder(
        resource_attributes(os.environ, gateway_version, platform.node(), os.getpid()),
        gateway_version,
    )
    post = PostClient(traces.url, {"content-type": "application/x-protobuf", **traces.headers})
    exporter = Exporter(encoder.encode, post, rejected_spans, warn=LogThrottle().log)
    if telemetry.background:
        exporter.start()
    telemetry.closing += [post.close, exporter.close]
    telemetry.collectors.append(exporter_collector(exporter))
    tracer = Tracer(Sampler(traces.sample), exporter.add, _peers(config))
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
