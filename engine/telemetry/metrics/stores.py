"""Metrics of the stores: the lag of the ledger behind its journal, and token lookups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from engine.values.metric import Collector, Sample, counter, gauge

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
LOOKUPS = counter(
    "modelway_token_lookups_total",
    "result",
    "Token lookups in the database: asked, failed, unknown (not in the database), stale "
    "(answered from memory while the database is unreachable).",
)
RECORDS_AWAY = gauge(
    "modelway_records_away", "", "1 while the database of tokens cannot be reached.", "livemax"
)


class Lag(Protocol):
    """`rows` that wait, and the age of the oldest in `seconds`."""

    @property
    def rows(self) -> int: ...
    @property
    def seconds(self) -> float: ...


class Journal(Protocol):
    """The journal of the ledger."""

    @property
    def lost_rows(self) -> int: ...


class Shipper(Protocol):
    """Ships rows from the journal to the database."""

    @property
    def refusals(self) -> int: ...
    @property
    def shipped(self) -> int: ...
    def lag(self) -> Lag: ...


class TokenCache(Protocol):
    """Numbers of lookups by result; `away` while the database cannot be reached."""

    @property
    def lookups(self) -> int: ...
    @property
    def failed(self) -> int: ...
    @property
    def unknown(self) -> int: ...
    @property
    def stale(self) -> int: ...
    @property
    def away(self) -> bool: ...


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


def lookup_collector(cache: TokenCache) -> Collector:
    """Token lookups by result."""

    def collect() -> Iterator[Sample]:
        yield LOOKUPS, ("asked",), cache.lookups
        yield LOOKUPS, ("failed",), cache.failed
        yield LOOKUPS, ("unknown",), cache.unknown
        yield LOOKUPS, ("stale",), cache.stale
        yield RECORDS_AWAY, (), float(cache.away)

    return collect
