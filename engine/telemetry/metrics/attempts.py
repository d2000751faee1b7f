"""Metrics of the attempts at upstreams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from operator import attrgetter

from engine.exchange.request_record import Attempt
from engine.telemetry.metrics.storage.cells import Cells
from engine.values.metric import counter

ATTEMPTS = counter(
    "modelway_upstream_attempts_total",
    "upstream result",
    "Attempts. result is ok or the class of the failure: connect, reset, 408, 429, 5xx, error, "
    "credential, fatal, also of one whose answer broke off; cancelled if another attempt of a "
    "hedged request was faster.",
)
RETRIES = counter(
    "modelway_upstream_retries_total", "upstream", "Attempts that were not a request's first."
)

_result = attrgetter("upstream", "failure")


def record_attempts(cells: Cells, attempts: Iterable[Attempt]) -> None:
    """Record finished attempts."""
    for (upstream, failure), count in Counter(map(_result, attempts)).items():
        cells.add(ATTEMPTS, (upstream, failure or "ok"), count)


def record_retries(cells: Cells, attempts: Sequence[Attempt]) -> None:
    """Record the attempts of a request after its first one; they may be at several upstreams."""
    for attempt in attempts[1:]:
        cells.add(RETRIES, (attempt.upstream,), 1.0)
