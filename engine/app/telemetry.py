"""What a worker that serves tells of itself: logs and metrics, as the config asks for them."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from pathlib import Path

from engine.config import telemetry
from engine.config.model import Config
from engine.exchange.exchange import Exchange, Observer
from engine.telemetry import log
from engine.telemetry.access_log import AccessLog
from engine.telemetry.batch import Batch
from engine.telemetry.health import Health
from engine.telemetry.metrics.process import (
    config_collector,
    log_collector,
    process_collector,
)
from engine.telemetry.sink import Sink
from engine.values.metric import Collector


@dataclass(slots=True)
class Observing:
    """What is told of exchanges, asked of the parts, shown as a page, and closed at the end.

    `background` says whether the parts start their work beside the requests: shipping the ledger,
    reading gauges, sending spans.
    """

    observers: list[Observer] = field(default_factory=list)
    collectors: list[Collector] = field(default_factory=list)
    page: Callable[[], bytes] | None = None
    health: Health = field(default_factory=Health)
    closing: list[Callable[[], None]] = field(default_factory=list)
    background: bool = True


def form_of(config: Config) -> log.LineFormatter:
    """How the gateway's own log is written."""
    return log.LineFormatter(config.telemetry.log.format == "text", config.source.redact)


def observing(
    config: Config,
    folder: Path | None,
    loggers: Sequence[str] = log.LOGGERS,
    *,
    background: bool = True,
) -> Observing:
    """The logs and metrics of one worker: to be made in it, after the fork.

    `folder` is where the metrics of the master's workers meet; None for no metrics. `loggers` are
    those that are the gateway's own to write.
    """
    said = config.telemetry
    made = Observing(background=background)
    made.health.version = version()
    made.health.config.accept(hash_of(config), 0.0)
    sinks: list[Sink] = []
    errors = Sink("stderr")
    sinks.append(errors)
    log.install(log.LineHandler(errors.write, form_of(config)), said.log.level, loggers)
    behind: Batch[Exchange] = Batch()
    if said.access_log.format != "off":
        sinks.append(_access_log(config, said.access_log, behind, made))
    made.closing.append(errors.close)
    if folder is not None and said.metrics:
        _metrics(config, folder, behind, made)
    if behind.consumers:
        made.observers.append(behind.add)
    made.collectors += [
        process_collector(made.health.version),
        config_collector(made.health.config),
        log_collector(lambda: sum(sink.dropped for sink in sinks)),
    ]
    return made


def _access_log(
    config: Config, said: telemetry.AccessLog, behind: Batch[Exchange], made: Observing
) -> Sink:
    sink = Sink(said.path)
    lines = AccessLog(
        sink.write,
        text=said.format == "text",
        fields=said.fields,
        sample=said.sample,
        dice=random.random,
        currency=config.currency,
        proxies=config.server.trusted_proxies,
    )
    behind.consumers.append(lines.write)
    made.closing += [sink.close, behind.flush]
    return sink


def _metrics(config: Config, folder: Path, behind: Batch[Exchange], made: Observing) -> None:
    from engine.telemetry.metrics.recorder import Metrics

    metrics = Metrics(folder, config.currency, made.collectors, behind.flush)
    made.observers.append(metrics)
    behind.consumers.append(metrics.record)
    made.page = metrics.page
    made.closing.append(metrics.close)
    if made.background:
        metrics.start()


def hash_of(config: Config) -> str:
    """The SHA-256 of gateway.yaml and the documents it names, as they are on disk."""
    hashed = hashlib.sha256(config.source.text.encode())
    for spec in config.specs.values():
        file = config.folder / spec.document
        if file.is_file():
            hashed.update(file.read_bytes())
    return hashed.hexdigest()


def version() -> str:
    """The version of this package, "unknown" where it was not installed."""
    try:
        return version_of("modelway")
    except PackageNotFoundError:
        return "unknown"
