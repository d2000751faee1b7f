"""What the screen shows, computed from a change of the metrics; nothing of a terminal in here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.cli.top.change import Change, Labels, Which
from engine.exchange.record import Outcome
from engine.telemetry.metrics import process, requests, stores, streams, upstreams, usage

_FAILED = frozenset({Outcome.FAILED, Outcome.UPSTREAM_CUT})
_BREAKER = {0: "closed", 1: "half-open", 2: "open"}
_HOUR = 3600.0

Quantiles = tuple[float | None, float | None]
"""The median and the 95th percentile, in seconds."""


@dataclass(frozen=True, slots=True)
class Row:
    """A model or an operation: requests and failures a second, how long they took."""

    name: str
    requests: float
    failed: float
    duration: Quantiles
    first_byte: float | None
    tokens: float
    cost: float


@dataclass(frozen=True, slots=True)
class Side:
    """An upstream: tries, failures and retries a second, its worst breaker, its connections."""

    name: str
    tries: float
    failed: float
    retries: float
    breaker: str
    busy: float
    idle: float
    first_byte: float | None


@dataclass(frozen=True, slots=True)
class Figures:
    """Everything at once. Rates are a second, `cost` is an hour, by currency."""

    requests: float
    failed: float
    refused: float
    in_flight: float
    sessions: float
    workers: float
    duration: Quantiles
    first_byte: Quantiles
    own: Quantiles
    tokens_in: float
    tokens_out: float
    cost: dict[str, float]
    models: list[Row]
    upstreams: list[Side]
    operations: list[Row]
    troubles: list[str]


def figures(change: Change) -> Figures:
    """The figures of a change."""
    total = requests.REQUESTS.name
    cost = change.rates(usage.COST.name, "currency")
    return Figures(
        requests=change.rate(total),
        failed=change.rate(total, _failed),
        refused=change.rate(total, lambda labels: labels.get("outcome") == Outcome.REFUSED),
        in_flight=change.gauge(requests.IN_FLIGHT.name) or 0.0,
        sessions=change.gauge(streams.SESSIONS.name) or 0.0,
        workers=change.gauge(process.WORKERS.name) or 0.0,
        duration=_both(change, requests.DURATION.name),
        first_byte=_both(change, requests.FIRST_BYTE.name),
        own=_both(change, requests.OVERHEAD.name),
        tokens_in=change.rate(usage.TOKENS.name, _type("input")),
        tokens_out=change.rate(usage.TOKENS.name, _type("output")),
        cost={currency: rate * _HOUR for currency, rate in cost.items() if rate},
        models=_rows(change, "model"),
        upstreams=_sides(change),
        operations=_rows(change, "operation"),
        troubles=_troubles(change),
    )


def _rows(change: Change, label: str) -> list[Row]:
    """Those that were ever asked for, the busiest first; the nameless last, if there are any."""
    name = requests.REQUESTS.name
    asked = change.rates(name, label)
    failed = change.rates(name, label, _failed)
    by_model = label == "model"
    tokens = change.rates(usage.TOKENS.name, label, _spoken) if by_model else {}
    cost = change.rates(usage.COST.name, label) if by_model else {}
    rows = []
    for key, rate in asked.items():
        which = _is(label, key)
        (late,) = change.quantiles(requests.FIRST_BYTE.name, (0.95,), which)
        row = Row(
            key or "(none)", rate, failed.get(key, 0.0),
            _both(change, requests.DURATION.name, which), late,
            tokens.get(key, 0.0), cost.get(key, 0.0) * _HOUR,
        )  # fmt: skip
        rows.append((not key, -rate, key, row))
    return [row for *_, row in sorted(rows, key=lambda entry: entry[:3])]


def _sides(change: Change) -> list[Side]:
    tries = change.rates(upstreams.ATTEMPTS.name, "upstream")
    failed = change.rates(
        upstreams.ATTEMPTS.name, "upstream", lambda said: said.get("result") != "ok"
    )
    retries = change.rates(upstreams.RETRIES.name, "upstream")
    worst: dict[str, float] = {}
    for labels, state in change.gauges(upstreams.BREAKER.name):
        upstream = labels.get("upstream", "")
        worst[upstream] = max(worst.get(upstream, 0.0), state)
    sides = []
    for name in sorted(tries.keys() | worst.keys()):
        (late,) = change.quantiles(requests.FIRST_BYTE.name, (0.95,), _is("upstream", name))
        sides.append(
            Side(
                name, tries.get(name, 0.0), failed.get(name, 0.0), retries.get(name, 0.0),
                _BREAKER.get(int(worst.get(name, 0.0)), "?"),
                change.gauge(upstreams.POOL.name, _pool(name, "busy")) or 0.0,
                change.gauge(upstreams.POOL.name, _pool(name, "idle")) or 0.0, late,
            )
        )  # fmt: skip
    return sorted(sides, key=lambda side: (side.breaker == "closed", -side.tries, side.name))


def _troubles(change: Change) -> list[str]:
    """What somebody has to see at once, in words."""
    found = [
        f"breaker {_BREAKER[int(state)]}: {labels.get('target') or labels.get('upstream')}"
        for labels, state in change.gauges(upstreams.BREAKER.name)
        if int(state) in (1, 2)
    ]
    if change.gauge(process.RELOAD_OK.name) == 0:
        found.append("the last reload of the config was refused")
    if change.gauge(stores.RECORDS_AWAY.name):
        found.append("the database of tokens is away")
    behind = change.gauge(stores.LEDGER_AGE.name) or 0.0
    if behind > 60:
        rows = change.gauge(stores.LEDGER_ROWS.name) or 0.0
        found.append(f"the ledger is {behind:.0f} s behind, {rows:.0f} rows")
    for metric, words in (
        (stores.LEDGER_LOST, "rows of the ledger are being lost"),
        (requests.UNCOUNTED, "limits cannot be counted"),
        (requests.LIMITS, "limits refuse requests"),
        (process.LINES_LOST, "log lines are being dropped"),
    ):
        if rate := change.rate(metric.name):
            found.append(f"{words}: {rate:.1f}/s")
    return found


def _both(change: Change, name: str, which: Which | None = None) -> Quantiles:
    median, late = change.quantiles(name, (0.5, 0.95), which)
    return median, late


def _failed(labels: Labels) -> bool:
    return labels.get("outcome") in _FAILED


def _spoken(labels: Labels) -> bool:
    return labels.get("type") in ("input", "output")  # cached ones are among the first


def _type(kind: str) -> Which:
    return _is("type", kind)


def _is(label: str, value: str) -> Callable[[Labels], bool]:
    return lambda labels: labels.get(label, "") == value


def _pool(upstream: str, state: str) -> Which:
    return lambda labels: labels.get("upstream") == upstream and labels.get("state") == state
