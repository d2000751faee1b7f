"""The figures of `modelway top` and of the page of operations, from the change of the metrics."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from engine.callers import metrics as callers
from engine.console.activity.metrics_change import Labels, MetricsChange, Selector
from engine.exchange.outcome import Outcome
from engine.stores.ledger import metrics as ledger
from engine.telemetry.metrics import process, requests, streams, usage
from engine.telemetry.metrics.process import LAG
from engine.telemetry.metrics.requests import ATTEMPTS, RETRIES
from engine.upstream.health import watched_target as health
from engine.upstream.health.watched_target import STATES
from engine.upstream.targets import metrics as upstreams
from engine.values.units import format_count

_FAILED = frozenset({Outcome.FAILED, Outcome.UPSTREAM_CUT})
BREAKER_STATES = {0: "closed", 1: "half-open", 2: "open"}
_HOUR = 3600.0

Quantiles = tuple[float | None, float | None]
"""The median and the 95th percentile, in seconds."""


class Activity(Struct, frozen=True):
    """A model or an operation: requests and failures per second, and their times."""

    name: str
    requests: float
    failed: float
    duration: Quantiles
    first_byte: float | None
    tokens: float
    cost: float


class UpstreamActivity(Struct, frozen=True):
    """An upstream: attempts, failures and retries per second, worst breaker, connections."""

    name: str
    attempts: float
    failed: float
    retries: float
    breaker: str
    busy: float
    idle: float
    first_byte: float | None


class Figures(Struct, frozen=True):
    """All figures. Rates are per second; `cost` is per hour, by currency."""

    requests: float
    failed: float
    refusals: float
    in_flight: float
    sessions: float
    workers: float
    duration: Quantiles
    first_byte: Quantiles
    overhead: Quantiles
    loop_lag: float | None
    tokens_in: float
    tokens_out: float
    cost: dict[str, float]
    models: list[Activity]
    upstreams: list[UpstreamActivity]
    operations: list[Activity]
    alerts: list[str]


def figures_of(change: MetricsChange) -> Figures:
    """The figures of a change."""
    total = requests.REQUESTS.name
    cost = change.rates(usage.COST.name, "currency")
    return Figures(
        requests=change.rate(total),
        failed=change.rate(total, _failed),
        refusals=change.rate(total, lambda labels: labels.get("outcome") == Outcome.REFUSED),
        in_flight=change.gauge(requests.IN_FLIGHT.name) or 0.0,
        sessions=change.gauge(streams.SESSIONS.name) or 0.0,
        workers=change.gauge(process.WORKERS.name) or 0.0,
        duration=_median_and_p95(change, requests.DURATION.name),
        first_byte=_median_and_p95(change, requests.FIRST_BYTE.name),
        overhead=_median_and_p95(change, requests.OVERHEAD.name),
        loop_lag=change.quantiles(LAG.name, (0.99,))[0],
        tokens_in=change.rate(usage.TOKENS.name, _type("input")),
        tokens_out=change.rate(usage.TOKENS.name, _type("output")),
        cost={currency: rate * _HOUR for currency, rate in cost.items() if rate},
        models=_activities(change, "model"),
        upstreams=_upstream_activities(change),
        operations=_activities(change, "operation"),
        alerts=_alerts(change),
    )


def _activities(change: MetricsChange, label: str) -> list[Activity]:
    """All values of the label, by requests; requests without a value last."""
    name = requests.REQUESTS.name
    rates = change.rates(name, label)
    failed = change.rates(name, label, _failed)
    by_model = label == "model"
    tokens = change.rates(usage.TOKENS.name, label, _input_or_output) if by_model else {}
    cost = change.rates(usage.COST.name, label) if by_model else {}
    rows = []
    for key, rate in rates.items():
        selector = _is(label, key)
        (p95,) = change.quantiles(requests.FIRST_BYTE.name, (0.95,), selector)
        row = Activity(
            key or "(none)", rate, failed.get(key, 0.0),
            _median_and_p95(change, requests.DURATION.name, selector), p95,
            tokens.get(key, 0.0), cost.get(key, 0.0) * _HOUR,
        )  # fmt: skip
        rows.append((not key, -rate, key, row))
    return [row for *_, row in sorted(rows, key=lambda entry: entry[:3])]


def _upstream_activities(change: MetricsChange) -> list[UpstreamActivity]:
    attempts = change.rates(ATTEMPTS.name, "upstream")
    failed = change.rates(
        ATTEMPTS.name,
        "upstream",
        lambda labels: labels.get("result") not in ("ok", "cancelled"),
    )
    retries = change.rates(RETRIES.name, "upstream")
    worst: dict[str, float] = {}
    for labels, state in change.gauges(upstreams.BREAKER.name):
        upstream = labels.get("upstream", "")
        worst[upstream] = max(worst.get(upstream, 0.0), state)
    rows = []
    for name in sorted(attempts.keys() | worst.keys()):
        (p95,) = change.quantiles(requests.FIRST_BYTE.name, (0.95,), _is("upstream", name))
        rows.append(
            UpstreamActivity(
                name, attempts.get(name, 0.0), failed.get(name, 0.0), retries.get(name, 0.0),
                BREAKER_STATES.get(int(worst.get(name, 0.0)), "?"),
                change.gauge(upstreams.POOL.name, _pool(name, "busy")) or 0.0,
                change.gauge(upstreams.POOL.name, _pool(name, "idle")) or 0.0, p95,
            )
        )  # fmt: skip
    return sorted(rows, key=lambda row: (row.breaker == "closed", -row.attempts, row.name))


def _alerts(change: MetricsChange) -> list[str]:
    """States that an operator should act on."""
    alerts = [
        f"breaker {BREAKER_STATES[int(state)]}: {labels.get('target') or labels.get('upstream')}"
        for labels, state in change.gauges(upstreams.BREAKER.name)
        if int(state) in (1, 2)
    ]
    alerts += [
        f"target {STATES[int(state)]}: {labels.get('target') or labels.get('upstream')}"
        for labels, state in change.gauges(health.HEALTH.name)
        if int(state) >= STATES.index("limited")
    ]
    if change.gauge(process.RELOAD_OK.name) == 0:
        alerts.append("the last reload of the config was refused")
    if change.gauge(callers.RECORDS_AWAY.name):
        alerts.append("the database of tokens cannot be reached")
    lag = change.gauge(ledger.LEDGER_AGE.name) or 0.0
    if lag > 60:
        rows = change.gauge(ledger.LEDGER_ROWS.name) or 0.0
        alerts.append(f"the ledger is {lag:.0f} s behind, {format_count(int(rows), 'row')}")
    for metric, event in (
        (ledger.LEDGER_LOST, "rows of the ledger are lost"),
        (requests.UNCOUNTED, "requests are not counted against limits"),
        (requests.LIMITS, "limits refuse requests"),
        (process.LINES_LOST, "log lines are dropped"),
    ):
        if rate := change.rate(metric.name):
            alerts.append(f"{event}: {rate:.1f}/s")
    return alerts


def _median_and_p95(
    change: MetricsChange, name: str, selector: Selector | None = None
) -> Quantiles:
    median, p95 = change.quantiles(name, (0.5, 0.95), selector)
    return median, p95


def _failed(labels: Labels) -> bool:
    return labels.get("outcome") in _FAILED


def _input_or_output(labels: Labels) -> bool:
    return labels.get("type") in ("input", "output")  # cached tokens are part of the input


def _type(kind: str) -> Selector:
    return _is("type", kind)


def _is(label: str, value: str) -> Callable[[Labels], bool]:
    return lambda labels: labels.get(label, "") == value


def _pool(upstream: str, state: str) -> Selector:
    return lambda labels: labels.get("upstream") == upstream and labels.get("state") == state
