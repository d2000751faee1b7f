"""Totals of the ledger: requests, usage and cost, grouped by token, model, day and so on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
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

_TIMEOUT = 120
"""Seconds of a query in PostgreSQL."""
_QUARTER = 900
"""Seconds to which days of all time zones can be counted."""

RARE_COUNTS = (
    *("reasoning", "cache_write", "audio_input", "audio_output", "image_input", "image_output"),
    *("images", "characters"),
)
"""Counts of `Total` that most models do not have."""

KINDS = ("token", "model", "served", "upstream", "day", "operation", "status", "outcome", "price")
"""What totals can be grouped by; `model` is the requested one, `price` the source of the price."""


@dataclass(frozen=True, slots=True)
class UsageFilter:
    """Selects rows: from `since` until before `until` (Unix seconds), of one token, of one model
    (requested or served); "" selects all."""

    since: float
    until: float
    token: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Total:
    """Sums for one `key`. `failed` counts requests with an error or an incomplete response, unless
    the caller had left. `cost` is in nano-units by currency. `first_byte_sum` is the sum of the
    seconds to the first byte, of the `first_byte_count` requests that had one."""

    key: str = ""
    requests: int = 0
    failed: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0
    cache_write: int = 0
    audio_input: int = 0
    audio_output: int = 0
    image_input: int = 0
    image_output: int = 0
    images: int = 0
    characters: int = 0
    cost: dict[str, int] = field(default_factory=dict)
    first_byte_sum: float = 0.0
    first_byte_count: int = 0

    @property
    def first_byte(self) -> float | None:
        """The average seconds to the first byte."""
        return self.first_byte_sum / self.first_byte_count if self.first_byte_count else None

    def __add__(self, other: Total) -> Total:
        """The sum, with the key of the first."""
        currencies = sorted({*self.cost, *other.cost})
        return Total(
            key=self.key,
            requests=self.requests + other.requests,
            failed=self.failed + other.failed,
            input=self.input + other.input,
            output=self.output + other.output,
            cached=self.cached + other.cached,
            **{name: getattr(self, name) + getattr(other, name) for name in RARE_COUNTS},
            cost={c: self.cost.get(c, 0) + other.cost.get(c, 0) for c in currencies},
            first_byte_sum=self.first_byte_sum + other.first_byte_sum,
            first_byte_count=self.first_byte_count + other.first_byte_count,
        )


def totals(database: Database, by: str, where: UsageFilter, time_zone: tzinfo = UTC) -> list[Total]:
    """One total for each value of `by` (one of KINDS): days in order, others by requests. Days are
    those of a time zone.

    Raises RecordsError.
    """
    query = _query(_key(by, database.kind), where)
    sums: dict[str, Total] = {}
    for row in database.read(lambda c: c.execute(query).all(), timeout=_TIMEOUT):
        total = _total(by, row, time_zone)
        sums[total.key] = sums[total.key] + total if total.key in sums else total
    if by == "day":
        return sorted(sums.values(), key=lambda total: total.key)
    return sorted(sums.values(), key=lambda total: (-total.requests, total.key))


def distinct_values(database: Database, by: str, where: UsageFilter) -> list[str]:
    """Every value of `by` among the rows. Raises RecordsError."""
    query = select(_key(by, database.kind)).where(*_conditions(where)).distinct()
    rows = database.read(lambda connection: connection.execute(query).all(), timeout=_TIMEOUT)
    return sorted(str(row[0]) for row in rows)


def existing_ids(database: Database, ids: Sequence[str]) -> set[str]:
    """Those of the ids that are in the table. Raises RecordsError."""
    query = select(usage.c.id).where(usage.c.id.in_(ids))
    return database.read(lambda connection: set(connection.execute(query).scalars()))


def _query(key: ColumnElement[Any], where: UsageFilter) -> Select[Any]:
    column = usage.c
    failed = (column.outcome != Outcome.CALLER_LEFT.value) & (
        (column.outcome != Outcome.COMPLETE.value) | (column.status >= 400)
    )
    return (
        select(
            key,
            func.count(),
            func.sum(case((failed, 1), else_=0)),
            func.sum(column.input),
            func.sum(column.output),
            func.sum(column.cached),
            *(func.sum(column[name]) for name in RARE_COUNTS),
            column.currency,
            func.sum(column.cost),
            func.coalesce(func.sum(column.first_byte), 0.0),
            func.count(column.first_byte),
        )
        .where(*_conditions(where))
        .group_by(key, column.currency)
    )


def _conditions(where: UsageFilter) -> list[ColumnElement[bool]]:
    column = usage.c
    conditions = [column.time >= where.since, column.time < where.until]
    if where.token:
        conditions.append(column.token == where.token)
    if where.model:
        conditions.append(
            or_(column.model_asked == where.model, column.model_served == where.model)
        )
    return conditions


def _key(by: str, kind: str) -> ColumnElement[Any]:
    if by == "day":
        quarters: ColumnElement[Any] = usage.c.time / literal_column(str(_QUARTER))
        # SQLite's cast truncates; PostgreSQL's rounds.
        return cast(quarters if kind == "sqlite" else func.floor(quarters), Integer).label("day")
    column: ColumnElement[Any] = usage.c[
        {"model": "model_asked", "served": "model_served"}.get(by, by)
    ]
    return column


def _total(by: str, row: Row[Any], time_zone: tzinfo) -> Total:
    (key, requests, failed, read, output, cached, *rare) = row[: 6 + len(RARE_COUNTS)]
    currency, cost, first_byte_sum, first_byte_count = row[6 + len(RARE_COUNTS) :]
    if by == "day":
        key = datetime.fromtimestamp(key * _QUARTER, time_zone).date().isoformat()
    return Total(
        key=str(key),
        requests=int(requests),
        failed=int(failed),
        input=int(read),
        output=int(output),
        cached=int(cached),
        **{name: int(count) for name, count in zip(RARE_COUNTS, rare, strict=True)},
        cost={str(currency): int(cost)} if cost else {},
        first_byte_sum=float(first_byte_sum),
        first_byte_count=int(first_byte_count),
    )
