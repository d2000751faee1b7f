"""Traces as a config asks for them: their parts put together, in the worker that keeps them.

Whoever imports this needs the extra `otel`.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from importlib import metadata

from engine.config.model import Config
from engine.config.traces import Traces
from engine.exchange import Observer
from engine.stores.seldom import Seldom
from engine.telemetry import traces
from engine.telemetry.exporter import Exporter
from engine.telemetry.otlp import Encoder, refused
from engine.telemetry.resource import resource
from engine.telemetry.spans import Peer
from engine.telemetry.trace_context import Sampler
from engine.upstream.address import origin_of
from engine.upstream.post import Post


def tracing(
    config: Config, said: Traces, closing: list[Callable[[], None]]
) -> tuple[Observer, Observer]:
    """What is to be told of the beginning of each exchange, and of its end.

    The spans go out in the background from now on; `closing` gets what ends that.
    """
    version = metadata.version("modelway")
    encoder = Encoder(resource(os.environ, version, platform.node(), os.getpid()), version)
    post = Post(said.url, {"content-type": "application/x-protobuf", **said.headers})
    exporter = Exporter(encoder.encode, post, refused, complain=Seldom().say)
    exporter.start()
    closing += [post.close, exporter.close]
    made = traces.Traces(Sampler(said.sample), exporter.add, _peers(config))
    return made.begin, made.ended


def _peers(config: Config) -> dict[str, Peer]:
    origins = {name: origin_of(upstream.url) for name, upstream in config.upstreams.items()}
    return {
        name: Peer(config.upstreams[name].dialect, origin.unix_path or origin.host, origin.port)
        for name, origin in origins.items()
    }
