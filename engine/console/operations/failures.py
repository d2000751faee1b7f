"""What fails, and how often: by kind, from the metrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from engine.console.activity.metrics_change import MetricsChange
from engine.exchange.record import Outcome
from engine.telemetry.metrics.attempts import ATTEMPTS
from engine.telemetry.metrics.requests import REFUSALS, REQUESTS

_NO_FAILURES = frozenset({"ok", "cancelled"})
_NO_ERRORS = frozenset({Outcome.COMPLETE.value, Outcome.REFUSED.value})


class Failure(NamedTuple):
    """A kind of failure of a request, a refusal of the gateway or an attempt at an upstream
    (`of`), so many times a second now, and `total` since the gateway has started."""

    of: str
    kind: str
    rate: float
    total: float


def failures(change: MetricsChange) -> list[dict[str, Any]]:
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
