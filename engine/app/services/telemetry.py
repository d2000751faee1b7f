"""Sets up the logs and metrics of a worker."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from pathlib import Path
from typing import TYPE_CHECKING

from engine.callers.limits.request_names import tag_reader
from engine.config.config import Config
from engine.config.telemetry import V1_41, AccessLogConfig
from engine.exchange.exchange import Exchange, Observer
from engine.telemetry import log
from engine.telemetry.access_log import AccessLogWriter
from engine.telemetry.batch import Batch
from engine.telemetry.health import ConfigStatus, Health
from engine.telemetry.log_sink import Sink
from engine.telemetry.metrics.process import config_collector, log_collector, process_collector
from engine.values.bounded_names import NameTables
from engine.values.metric import Collector

if TYPE_CHECKING:
    from engine.telemetry.metrics.teams_and_tags import ReadTags


@dataclass(slots=True)
class WorkerTelemetry:
    """The observers of exchanges, the collectors of gauges, the metrics page, and the functions
    that close them.

    `background`: whether background tasks run: shipping the ledger, sampling gauges, exporting
    spans and metrics. `folder` is that of the metrics of a worker that may export them, else None.
    """

    observers: list[Observer] = field(default_factory=list)
    collectors: list[Collector] = field(default_factory=list)
    page: Callable[[], bytes] | None = None
    health: Health = field(default_factory=Health)
    closing: list[Callable[[], None]] = field(default_factory=list)
    background: bool = True
    folder: Path | None = None


def formatter_of(config: Config) -> log.LineFormatter:
    """The formatter of the gateway's own log."""
    return log.LineFormatter(config.telemetry.log.format == "text", config.source.redact)


def telemetry_of(
    config: Config,
    folder: Path | None,
    loggers: Sequence[str] = log.LOGGERS,
    *,
    status: ConfigStatus | None = None,
    background: bool = True,
    is_heavy: bool = False,
) -> WorkerTelemetry:
    """The logs and metrics of one worker, to be called in it, after the fork.

    `folder` holds the metrics of all workers of a master; None for no metrics. `loggers` are the
    names of the loggers to configure, `status` is that of the config that is served. `is_heavy`:
    the worker serves large requests only.
    """
    settings = config.telemetry
    health = Health(status or ConfigStatus(), version=version())
    parts = WorkerTelemetry(health=health, background=background)
    sinks: list[Sink] = []
    errors = _log(config, loggers)
    sinks.append(errors)
    batch: Batch[Exchange] = Batch()
    if settings.access_log.format != "off":
        sinks.append(_access_log(config, settings.access_log, batch, parts))
    parts.closing.append(errors.close)
    if folder is not None and settings.metrics:
        _metrics(config, folder, batch, parts)
        parts.folder = None if is_heavy else folder
    if batch.consumers:
        parts.observers.append(batch.add)
    parts.collectors += [
        process_collector(parts.health.version, is_worker=not is_heavy),
        config_collector(parts.health.config),
        log_collector(lambda: sum(sink.dropped for sink in sinks)),
    ]
    return parts


def recorder_telemetry(config: Config, folder: Path | None) -> WorkerTelemetry:
    """The log and metrics of the recorder, to be called in it, after the fork; `folder` as in
    `telemetry_of`."""
    parts = WorkerTelemetry()
    errors = _log(config, log.LOGGERS)
    parts.closing.append(errors.close)
    if folder is not None and config.telemetry.metrics:
        _metrics(config, folder, Batch(), parts, is_worker=False)
    parts.collectors += [
        process_collector(version(), is_worker=False),
        log_collector(lambda: errors.dropped),
    ]
    return parts


def _log(config: Config, loggers: Sequence[str]) -> Sink:
    """The sink of the gateway's own log, from now on."""
    errors = Sink("stderr")
    level = config.telemetry.log.level
    log.install(log.LineHandler(errors.write, formatter_of(config)), level, loggers)
    return errors


def _access_log(
    config: Config, settings: AccessLogConfig, batch: Batch[Exchange], parts: WorkerTelemetry
) -> Sink:
    sink = Sink(settings.path)
    lines = AccessLogWriter(
        sink.write,
        text=settings.format == "text",
        fields=settings.fields,
        sample=settings.sample,
        dice=random.random,
        currency=config.currency,
        proxies=config.server.trusted_proxies,
    )
    batch.consumers.append(lines.write)
    parts.closing += [sink.close, batch.flush]
    return sink


def _metrics(
    config: Config,
    folder: Path,
    batch: Batch[Exchange],
    parts: WorkerTelemetry,
    *,
    is_worker: bool = True,
) -> None:
    from engine.telemetry.metrics.inference import InferenceTables
    from engine.telemetry.metrics.usage import UsageTables
    from engine.telemetry.metrics.worker_metrics import WorkerMetrics

    metrics = WorkerMetrics(
        folder,
        config.currency,
        parts.collectors,
        batch.flush,
        max_series=config.telemetry.series,
        read_tags=_tags_with_metrics(config),
        usage_tables=UsageTables if config.telemetry.semconv == V1_41 else InferenceTables,
    )
    parts.observers.append(metrics)
    batch.consumers.append(metrics.record)
    parts.page = metrics.page
    parts.closing.append(metrics.close)
    if parts.background:
        metrics.start(watches_loop=is_worker)


def _tags_with_metrics(config: Config) -> ReadTags | None:
    places = {tag.name: tag.place for tag in config.tags if tag.name in config.telemetry.tags}
    return tag_reader(places, NameTables()) if places else None


def version() -> str:
    """The version of this package, "unknown" if it is not installed."""
    try:
        return version_of("modelway")
    except PackageNotFoundError:
        return "unknown"
