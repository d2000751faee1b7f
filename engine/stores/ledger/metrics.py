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


def ledger_collector(journal: Journal, shipper: Shipper) -> Collector:
    """How far the database is behind the journal."""

    def collect() -> Iterator[Sample]:
        lag = shipper.lag()
        yield LEDGER_ROWS, (), lag.rows
        yield LEDGER_AGE, (), lag.seconds
        yield LEDGER_LOST, (), journal.lost_rows
        yield LEDGER_REFUSED, (), shipper.refusals
        yield LEDGER_SHIPPED, (), shipper.shipped

    return collect
