"""What the page of operations shows: made at most once a second, however many look at it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import orjson
from gevent.lock import BoundedSemaphore

from engine.console.activity.figures import figures_of
from engine.console.activity.metrics_change import MetricsChange, Snapshot, parse_samples
from engine.console.operations.callers import CallerReport
from engine.console.operations.failures import failures
from engine.console.operations.targets import queues, targets
from engine.exchange.services import Services
from engine.plan.route import Plan
from engine.telemetry.metrics.requests import DURATION, FIRST_BYTE

_FRESH_SECONDS = 1.0
"""How long a report is used."""
_CALLERS_SECONDS = 10.0
"""How long what is known of limits and tokens is used."""
_OLDEST_SECONDS = 60.0
"""The oldest snapshot with which the metrics are compared."""
_MAX_ROWS = 50

Json = dict[str, Any]


class OperationsReport:
    """Makes the report of a plan. Rates are those since the report before: the first one has none.
    Each worker has its own, of the metrics of all workers."""

    def __init__(
        self, plan: Plan, services: Services, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._services = services
        self._clock = clock
        self._turn = BoundedSemaphore(1)
        self._before: Snapshot | None = None
        self._text = b""
        self._made = -_OLDEST_SECONDS
        self._callers = CallerReport(plan, services)
        self._caller_part: Json = {}
        self._callers_read = -_CALLERS_SECONDS

    def __call__(self) -> bytes:
        """The report as JSON."""
        with self._turn:
            now = self._clock()
            if now - self._made >= _FRESH_SECONDS:
                if now - self._callers_read >= _CALLERS_SECONDS:
                    self._caller_part, self._callers_read = self._callers(), now
                parts = {**self._state(), **self._activity(now), **self._caller_part}
                self._text, self._made = orjson.dumps(parts), now
            return self._text

    def _state(self) -> Json:
        """The config in use, and the stores."""
        health, now = self._services.health, self._services.clock()
        details = health.details(health.ready(), now) if health is not None else {}
        names = ("status", "version", "config", "stores")
        return {"time": now, **{name: details.get(name) for name in names}}

    def _activity(self, now: float) -> Json:
        """What the metrics say, `null` without any; `figures` are null in the first report."""
        page = self._services.page
        if page is None:
            return {"metrics": None}
        snapshot = Snapshot(now, parse_samples(page().decode()))
        before, self._before = self._before, snapshot
        has_figures = before is not None and now - before.time <= _OLDEST_SECONDS
        change = MetricsChange(before if before and has_figures else snapshot, snapshot)
        metrics: Json = {
            "figures": _figures(change) if has_figures else None,
            "failures": failures(change)[:_MAX_ROWS],
            "targets": targets(change),
            "queues": queues(change),
        }
        return {"metrics": metrics}


def _figures(change: MetricsChange) -> Json:
    """The figures of `modelway top`, with the 99th percentiles."""
    figures = asdict(figures_of(change))
    for name in ("models", "upstreams", "operations"):
        figures[name] = figures[name][:_MAX_ROWS]
    (duration,) = change.quantiles(DURATION.name, (0.99,))
    (first_byte,) = change.quantiles(FIRST_BYTE.name, (0.99,))
    p99 = {"duration_p99": duration, "first_byte_p99": first_byte}
    return {"seconds": round(change.seconds, 3), **figures, **p99}
