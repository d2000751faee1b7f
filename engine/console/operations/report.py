"""`/operations` on the telemetry listener: a page, its files, and the report that it asks for,
which is made at most once a second, however many look at it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from gevent.lock import BoundedSemaphore
from msgspec import to_builtins

from engine.config.telemetry import OPERATIONS, OPERATIONS_DATA
from engine.console.activity.figures import BREAKER_STATES, figures_of
from engine.console.activity.metrics_change import MetricsChange, Snapshot, parse_samples
from engine.console.asset import Asset, file, fixed, json_response, read
from engine.console.operations.callers import CallerReport
from engine.exchange.exchange import Exchange, Handler, Response
from engine.exchange.outcome import Outcome
from engine.exchange.stage_services import Services
from engine.plan.plan import Plan
from engine.telemetry.metrics.requests import ATTEMPTS, DURATION, FIRST_BYTE, REFUSALS, REQUESTS
from engine.upstream.admission import upstream_gates as admission
from engine.upstream.health import watched_target as health
from engine.upstream.health.watched_target import STATES
from engine.upstream.targets import metrics as upstreams

_FRESH_SECONDS = 1.0
"""How long a report is used."""
_CALLERS_SECONDS = 10.0
"""How long what is known of limits and tokens is used."""
_OLDEST_SECONDS = 60.0
"""The oldest snapshot with which the metrics are compared."""
_MAX_ROWS = 50
_NO_FAILURES = frozenset({"ok", "cancelled"})
_NO_ERRORS = frozenset({Outcome.COMPLETE.value, Outcome.REFUSED.value})
_MAX_TARGETS = 200

Json = dict[str, Any]
_FILES_PATH = f"{OPERATIONS}/page/"
_FILES = Path(__file__).resolve().parent.parent / "page"
_LOADED = (
    *("style.css", "data.css", "operations.css", "theme.js", "mark.svg"),
    *("playground/dom.js", "data/chart.js", "data/format.js", "data/table.js"),
)


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
        self._time = -_OLDEST_SECONDS
        self._callers = CallerReport(plan, services)
        self._caller_part: Json = {}
        self._callers_read = -_CALLERS_SECONDS

    def __call__(self) -> bytes:
        """The report as JSON."""
        with self._turn:
            now = self._clock()
            if now - self._time >= _FRESH_SECONDS:
                if now - self._callers_read >= _CALLERS_SECONDS:
                    self._caller_part, self._callers_read = self._callers(), now
                parts = {**self._state(), **self._activity(now), **self._caller_part}
                self._text, self._time = orjson.dumps(parts), now
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
    figures = to_builtins(figures_of(change))
    for name in ("models", "upstreams", "operations"):
        figures[name] = figures[name][:_MAX_ROWS]
    (duration,) = change.quantiles(DURATION.name, (0.99,))
    (first_byte,) = change.quantiles(FIRST_BYTE.name, (0.99,))
    p99 = {"duration_p99": duration, "first_byte_p99": first_byte}
    return {"seconds": round(change.seconds, 3), **figures, **p99}


class Failure(NamedTuple):
    """A kind of failure of a request, a refusal of the gateway or an attempt at an upstream
    (`of`), so many times a second now, and `total` since the gateway has started."""

    of: str
    kind: str
    rate: float
    total: float


def failures(change: MetricsChange) -> list[Json]:
    """Each kind of failure, those that happen most now first."""
    rows = [*_rows(change)]
    rows.sort(key=lambda row: (-row.rate, -row.total, row))
    return [row._asdict() for row in rows]


def _rows(change: MetricsChange) -> Iterator[Failure]:
    for of, metric, labels, without in (
        ("request", REQUESTS, ("outcome",), _NO_ERRORS),
        ("refusal", REFUSALS, ("code",), frozenset[str]()),
        ("attempt", ATTEMPTS, ("upstream", "result"), _NO_FAILURES),
    ):
        rates = change.rates_by(metric.name, labels)
        for key, total in change.totals_by(metric.name, labels).items():
            if key[-1] not in without:
                yield Failure(of, ": ".join(key), rates.get(key, 0.0), total)


def targets(change: MetricsChange) -> list[Json]:
    """Each target that was asked or is watched, those in trouble first. `breaker` and `health` are
    words, null if unknown."""
    rows: dict[tuple[str, str], Json] = {}
    for name, words in (("breaker", upstreams.BREAKER), ("health", health.HEALTH)):
        for labels, state in change.gauges(words.name):
            key = labels.get("upstream", ""), labels.get("target", "")
            rows.setdefault(key, {"breaker": 0, "health": 0})[name] = int(state)
    ordered = sorted(rows.items(), key=lambda row: (-row[1]["breaker"], -row[1]["health"], row[0]))
    return [
        {
            "upstream": upstream,
            "target": target,
            "breaker": BREAKER_STATES.get(row["breaker"], "?"),
            "health": STATES[row["health"]],
        }
        for (upstream, target), row in ordered[:_MAX_TARGETS]
    ]


def queues(change: MetricsChange) -> list[Json]:
    """Each queue, the longest first: requests `in_flight` of at most `bound`, and those that
    wait."""
    rows: dict[tuple[str, str], Json] = {}
    for name, metric in (
        ("in_flight", admission.IN_FLIGHT),
        ("bound", admission.BOUND),
        ("waiting", admission.WAITING),
    ):
        for labels, value in change.gauges(metric.name):
            key = labels.get("upstream", ""), labels.get("target", "")
            row = {"upstream": key[0], "target": key[1], "in_flight": 0, "bound": 0, "waiting": 0}
            rows.setdefault(key, row)[name] = int(value)
    ordered = sorted(rows.values(), key=lambda row: (-row["waiting"], -row["in_flight"]))
    return ordered[:_MAX_TARGETS]


def operations_pages(report: Callable[[], bytes]) -> Mapping[str, Handler]:
    """The handlers of the page, its data, which `report` makes, and its files, by path."""
    modules = sorted((_FILES / "operations").glob("*.js"))
    files = [*(_FILES / name for name in _LOADED), *modules]

    def data(exchange: Exchange) -> Response:
        return json_response(report())

    return {
        OPERATIONS: fixed(_page()),
        OPERATIONS_DATA: data,
        **{_FILES_PATH + path.relative_to(_FILES).as_posix(): file(path) for path in files},
    }


def _page() -> Asset:
    return read(_FILES / "operations.html")
