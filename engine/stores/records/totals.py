"""Adding the ledger up: what was asked, what it took and what it cost, by whom or what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Integer,
    Row,
    Select,
    case,
    cast,
    func,
    literal_column,
    or_,
    select,
)

from engine.exchange.record import Outcome
from engine.stores.records.database import Database
from engine.stores.records.schema import usage

_PATIENCE = 120
"""Seconds that PostgreSQL may take to add up."""
_DAY = 86_400

KINDS = ("token", "model", "served", "upstream", "day", "operation", "status", "outcome")
"""What totals can be made by; `model` is the one that was asked for."""


@dataclass(frozen=True, slots=True)
class Which:
    """The rows that count: from `since` until before `until` (Unix seconds), of one token, of one
    model (asked for or served); "" stands for all."""

    since: float
    until: float
    token: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Total:
    """Sums for one `key`. `failed` are those that were answered with an error or broke off, unless
    the caller had left. `cost` is in nano-units by currency."""

    key: str = ""
    requests: int = 0
    failed: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    cost: dict[str, int] = field(default_factory=dict)
    waited: float = 0.0
    answered: int = 0

    @property
    def first_byte(self) -> float | None:
        """Seconds until the first byte of the answer, on average over those that had one."""
        return self.waited / self.answered if self.answered else None

    def __add__(self, other: Total) -> Total:
        """The sum of two, with the key of the first."""
        currencies = sorted({*self.cost, *other.cost})
        return Total(
            key=self.key,
            requests=self.requests + other.requests,
            failed=self.failed + other.failed,
            input=self.input + other.input,
            output=self.output + other.output,
            cached=self.cached + other.cached,
            cost={c: self.cost.get(c, 0) + other.cost.get(c, 0) for c in currencies},
            waited=self.waited + other.waited,
            answered=self.answered + other.answered,
        )


def totals(database: Database, by: str, which: Which) -> list[Total]:
    """One total for each value of `by` (one of KINDS): days in order, others by requests.

    Raises RecordsError.
    """
    ask = _query(_key(by, database.kind), which)
    found: dict[str, Total] = {}
    for row in database.read(lambda c: c.execute(ask).all(), timeout=_PATIENCE):
        total = _total(by, row)
        found[total.key] = found[total.key] + total if total.key in found else total
    if by == "day":
        return sorted(found.values(), key=lambda total: total.key)
    return sorted(found.values(), key=lambda total: (-total.requests, total.key))


def names(database: Database, by: str, which: Which) -> list[str]:
    """Every value of `by` among the rows. Raises RecordsError."""
    ask = select(_key(by, database.kind)).where(*_chosen(which)).distinct()
    found = database.read(lambda connection: connection.execute(ask).all(), timeout=_PATIENCE)
    return sorted(str(row[0]) for row in found)


def known(database: Database, ids: Sequence[str]) -> set[str]:
    """Those of the ids that have been entered. Raises RecordsError."""
    ask = select(usage.c.id).where(usage.c.id.in_(ids))
    return database.read(lambda connection: set(connection.execute(ask).scalars()))


def _query(key: ColumnElement[Any], which: Which) -> Select[Any]:
    column = usage.c
    lacks = (column.outcome != Outcome.CALLER_LEFT.value) & (
        (column.outcome != Outcome.COMPLETE.value) | (column.status >= 400)
    )
    return (
        select(
            key,
            func.count(),
            func.sum(case((lacks, 1), else_=0)),
            func.sum(column.input),
            func.sum(column.output),
            func.sum(column.cached),
            column.currency,
            func.sum(column.cost),
            func.coalesce(func.sum(column.first_byte), 0.0),
            func.count(column.first_byte),
        )
        .where(*_chosen(which))
        .group_by(key, column.currency)
    )


def _chosen(which: Which) -> list[ColumnElement[bool]]:
    column = usage.c
    chosen = [column.time >= which.since, column.time < which.until]
    if which.token:
        chosen.append(column.token == which.token)
    if which.model:
        chosen.append(or_(column.model_asked == which.model, column.model_served == which.model))
    return chosen


def _key(by: str, kind: str) -> ColumnElement[Any]:
    if by == "day":
        days: ColumnElement[Any] = usage.c.time / literal_column(str(_DAY))
        # SQLite's cast cuts off; PostgreSQL's rounds.
        return cast(days if kind == "sqlite" else func.floor(days), Integer).label("day")
    column: ColumnElement[Any] = usage.c[
        {"model": "model_asked", "served": "model_served"}.get(by, by)
    ]
    return column


def _total(by: str, row: Row[Any]) -> Total:
    key, requests, failed, read, written, cached, currency, cost, waited, answered = row
    if by == "day":
        key = datetime.fromtimestamp(key * _DAY, UTC).date().isoformat()
    return Total(
        key=str(key),
        requests=int(requests),
        failed=int(failed),
        input=int(read),
        output=int(written),
        cached=int(cached),
        cost={str(currency): int(cost)} if cost else {},
        waited=float(waited),
        answered=int(answered),
    )
