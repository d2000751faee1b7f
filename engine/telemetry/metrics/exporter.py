"""Exports the metrics of all workers to a collector, from one of them.

The worker that has locked a file in the folder of metrics exports; when it ends, the next one does.
Sums are cumulative since that file was made, so an export that fails loses nothing: the next one
has its values.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import gevent

from engine.machine.worker_locks import try_lock
from engine.process.periodic import PeriodicTask
from engine.telemetry.metrics.otlp import Interval
from engine.values.metric import Collector, counter
from engine.values.upstream_request import PostResult

log = logging.getLogger("modelway")

METRICS_EXPORTS = counter(
    "modelway_metrics_exports_total",
    "result",
    "Exports of the metrics to the collector of telemetry.otlp_metrics: sent or failed.",
)

_LOCK = "export.lock"


class MetricsExporter:
    """Exports `page` every `seconds`: `encode` makes the bodies of requests of it, `post` sends
    each. `warn` logs what goes wrong."""

    def __init__(
        self,
        folder: Path,
        page: Callable[[], bytes],
        encode: Callable[[str, Interval], Iterator[bytes]],
        post: Callable[[bytes], PostResult],
        *,
        seconds: float,
        warn: Callable[..., None] = log.warning,
    ) -> None:
        self.counts = {"sent": 0, "failed": 0}
        self._file = folder / _LOCK
        self._page = page
        self._encode = encode
        self._post = post
        self._warn = warn
        self._lock: int | None = None
        self._background = PeriodicTask(self._export, seconds, run_on_stop=True)

    def start(self) -> None:
        """Export from now on; in the worker, after the fork."""
        self._background.start()

    def close(self, timeout: float = 3.0) -> None:
        """Export a last time within `timeout` seconds, and let another worker go on."""
        self._background.stop(timeout)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def export(self) -> None:
        """Export the metrics of now, if no other worker does."""
        if self._lock is None:
            self._lock = try_lock(self._file)
        if self._lock is None:
            return
        interval = Interval(os.fstat(self._lock).st_mtime_ns, time.time_ns())
        page = self._page().decode()
        encode = gevent.get_hub().threadpool.apply
        for body in encode(lambda: list(self._encode(page, interval))):
            result = self._post(body)
            if not 200 <= result.status < 300:
                self.counts["failed"] += 1
                reason = result.error or f"status {result.status}"
                self._warn("the collector did not take the metrics: %s", reason)
                return
        self.counts["sent"] += 1

    def _export(self, wait: float) -> float:
        self.export()
        return wait


def exports_collector(exporter: MetricsExporter) -> Collector:
    """Exports that were sent, and that failed."""
    return lambda: [
        (METRICS_EXPORTS, (result,), count) for result, count in exporter.counts.items()
    ]
