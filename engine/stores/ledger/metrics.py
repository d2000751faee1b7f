"""Metrics of the ledger: how far the database is behind the journal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.stores.ledger.journal import Journal
from engine.values.metric import Collector, Sample, counter, gauge

if TYPE_CHECKING:
    from engine.stores.ledger.shipper import Shipper  # it imports SQLAlchemy

LEDGER_ROWS = gauge(
    "modelway_ledger_lag_rows", "", "Rows of the ledger that wait in the journal for the database."
)
LEDGER_AGE = gauge(
    "modelway_ledger_lag_seconds", "", "Age of the oldest row that waits.", "livemax"
)
LEDGER_LOST = counter("modelway_ledger_rows_lost_total", "", "Rows that could not be written.")
LEDGER_REFUSED = counter(
    "modelway_ledger_rows_refused_total", "", "Rows that the database refused."
)
LEDGER_SHIPPED = counter("modelway_ledger_rows_shipped_total", "", "Rows written to the database.")


def ledger_collector(journal: Journal | None = None, shipper: Shipper | None = None) -> Collector:
    """How far the database is behind the journal, as far as this process knows: what waits in the
    file of its `journal`, and in the files of its `shipper`."""

    def collect() -> Iterator[Sample]:
        lags = [part.lag() for part in (journal, shipper) if part is not None]
        yield LEDGER_ROWS, (), sum(lag.rows for lag in lags)
        yield LEDGER_AGE, (), max((lag.seconds for lag in lags), default=0.0)
        if journal is not None:
            yield LEDGER_LOST, (), journal.lost_rows
        if shipper is not None:
            yield LEDGER_REFUSED, (), shipper.refusals
            yield LEDGER_SHIPPED, (), shipper.shipped

    return collect
