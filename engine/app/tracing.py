"""Traces as a config asks for them: their parts put together, in the worker that keeps them.

Whoever imports this needs the extra `otel`.
"""

from __future__ import annotations

import os
import platform

from engine import dialects
from engine.app.telemetry import Observing, version
from engine.config.model import Config
from engine.config.telemetry import Traces
from engine.exchange.exchange import Observer
from engine.telemetry.metrics.process import exporter_collector
from engine.telemetry.tracing.exporter import Exporter
from engine.telemetry.tracing.otlp import Encoder, rejected_spans, resource_attributes
from engine.telemetry.tracing.spans import Peer, Tracer
from engine.telemetry.tracing.trace_context import Sampler
from engine.upstream.client.address import origin_of
from engine.upstream.post_client import PostClient
from engine.values.throttle import LogThrottle


def tracing(config: Config, said: Traces, told: Observing) -> Observer:
    """What is to be told of the beginning of each exchange; `told` gets all the rest.

    The spans go out in the background from now on.
    """
    ours = version()
    encoder = Encoder(resource_attributes(os.environ, ours, platform.node(), os.getpid()), ours)
    post = PostClient(said.url, {"content-type": "application/x-protobuf", **said.headers})
    exporter = Exporter(encoder.encode, post, rejected_spans, warn=LogThrottle().log)
    if told.background:
        exporter.start()
    told.closing += [post.close, exporter.close]
    told.collectors.append(exporter_collector(exporter))
    tracer = Tracer(Sampler(said.sample), exporter.add, _peers(config))
    told.observers.append(tracer.end)
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
