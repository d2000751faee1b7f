"""The queries of reports: sums of whole periods, and rows at both ends of a range.

One query reads both, with the same columns, so that a report is exact to the second.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

from msgspec import Struct
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    FromClause,
    Row,
    Select,
    Subquery,
    Table,
    and_,
    case,
    cast,
    func,
    literal_column,
    or_,
    select,
    union_all,
)

from engine.exchange.outcome import Outcome
from engine.exchange.request_record import CANCELLED
from engine.stores.database.periods import HOUR, Pieces, pieces
from engine.stores.database.schema import (
    COST_BITS,
    MARGINS,
    SUMMED_COUNTS,
    ledger,
    ledger_models,
    ledger_state,
    ledger_totals,
    ledger_unsummed_rows,
)

Expression = ColumnElement[Any]
"""An SQL expression, of any type of the database."""
Query = Select[Any]
Rows = Sequence[Row[Any]]

SUMS = (
    *("requests", "failed", *SUMMED_COUNTS),
    *("cost_high", "cost_low", "first_byte_count", "first_byte_sum", *MARGINS),
)
"""The columns of every kind of sums, in the order of the results."""

QUARTER = 900
"""Seconds by which rows are grouped for days: midnight is a whole quarter in every time zone."""


class UsageFilter(Struct, frozen=True):
    """Selects rows: from `since` until before `until` (Unix seconds), of one token, of one model
    (requested or served), of one client, of one session, that came by one protocol, of one team; ""
    selects all. The sums do not have `client`, `session` and `via`, so each row of the range is
    read for these."""

    since: float
    until: float
    token: str = ""
    model: str = ""
    client: str = ""
    session: str = ""
    via: str = ""
    team: str = ""

    @property
    def needs_rows(self) -> bool:
        """Whether the sums of periods cannot be used."""
        return bool(self.client or self.session or self.via)


def rows_from(connection: Connection) -> float:
    """The time (Unix seconds) before which the retention has deleted rows, 0.0 for none."""
    return state(connection, "rows_from")


def sums_by(connection: Connection, column: str, where: UsageFilter) -> Rows:
    """The value of a column, the currency and `SUMS`, for each value and currency."""
    parts = _pieces(connection, where)
    return connection.execute(_sum(_union(connection, parts, where, ledger_totals, column))).all()


def rows_by(
    connection: Connection, columns: Sequence[str], where: UsageFilter, most: int
) -> tuple[list[Sequence[Any]], list[Sequence[Any]]]:
    """The values of some columns, the currency, the start of the first request, the end of the last
    one (Unix seconds) and `SUMS`, of the `most` combinations with the most requests; and the
    currency and `SUMS` of all others. Every row of the range is read, once."""
    ranked = _ranked_groups(columns, where, max(where.since, rows_from(connection))).c
    slot = case((ranked.rank <= most, ranked.rank), else_=0)  # 0 has all others
    query = select(
        *(slot, *(func.max(ranked[name]) for name in columns), ranked.currency),
        *(func.min(ranked.first), func.max(ranked.last)),
        *(func.sum(ranked[name]) for name in SUMS),
    ).group_by(slot, ranked.currency)
    rows = sorted(connection.execute(query), key=itemgetter(0))
    at = 1 + len(columns)
    return [r[1:] for r in rows if r[0]], [(r[at], *r[at + 3 :]) for r in rows if not r[0]]


def _ranked_groups(columns: Sequence[str], where: UsageFilter, since: float) -> Subquery:
    """The rank of each combination, from 1 on, and its values, times and sums."""
    row = ledger.c
    names = [*(row[name] for name in columns), row.currency]
    times = [
        func.min(row.time).label("first"),
        func.max(row.time + row.duration).label("last"),
    ]
    sums = zip(SUMS, row_sums(), strict=True)
    groups = (
        select(*names, *times, *(func.sum(value).label(name) for name, value in sums))
        .where(row.time >= since, row.time < where.until, *conditions(ledger, where))
        .group_by(*names)
        .subquery()
    ).c
    order = groups.requests.desc(), *(groups[name.key] for name in names)
    return select(func.row_number().over(order_by=order).label("rank"), *groups).subquery()


def hours_of(connection: Connection, where: UsageFilter, longest: int = HOUR) -> Pieces:
    """A range divided into rows and hours; with `longest=DAY` and a token also days."""
    return _pieces(connection, where, longest=longest if where.token or where.team else HOUR)


def sums_by_hour(
    connection: Connection, where: UsageFilter, hours: Iterable[tuple[int, int, int]]
) -> Rows:
    """The start of an hour or day (Unix seconds), the currency and `SUMS`; `hours` are the `sums`
    of `hours_of`."""
    table = ledger_totals if where.token or where.team else ledger_models
    parts = Pieces(sums=[*hours])
    return connection.execute(_sum(_union(connection, parts, where, table, ""))).all()


def sums_by_quarter(
    connection: Connection, where: UsageFilter, ranges: Iterable[tuple[float, float]]
) -> Rows:
    """Like `sums_by_hour`, for quarters of hours, read from the rows of some ranges of time."""
    parts = Pieces([*ranges])
    return connection.execute(_sum(_union(connection, parts, where, ledger_totals, ""))).all()


def values_of(connection: Connection, column: str, where: UsageFilter) -> list[str]:
    """The distinct values of a column."""
    union = _union(connection, _pieces(connection, where), where, ledger_totals, column)
    rows = connection.execute(select(union.c.key).distinct()).scalars()
    return [str(value) for value in rows]


def _pieces(connection: Connection, where: UsageFilter, **options: int) -> Pieces:
    since = max(where.since, rows_from(connection))
    if where.needs_rows:
        return Pieces([(since, where.until)])
    return pieces(since, where.until, state(connection, "totals_from"), **options)


def state(connection: Connection, name: str) -> float:
    """A value of `ledger_state`, 0.0 where there is none."""
    query = select(ledger_state.c.value).where(ledger_state.c.name == name)
    return float(connection.execute(query).scalar() or 0.0)


def _sum(union: Subquery) -> Query:
    sums = (func.sum(union.c[name]).label(name) for name in SUMS)
    return select(union.c.key, union.c.currency, *sums).group_by(union.c.key, union.c.currency)


def _union(
    connection: Connection, parts: Pieces, where: UsageFilter, table: FromClause, column: str
) -> Subquery:
    """The rows and sums of a range, with the value of `column` as `key`; their time for "". Rows in
    periods that are not summed yet are read by hour."""
    kind = connection.dialect.name

    def key(table: Table, seconds: int) -> Expression:
        return table.c[column] if column else floor_time(table.c.time, seconds, kind)

    selects = [_rows(ledger, key(ledger, QUARTER), parts.rows, where)] if parts.rows else []
    selects += [_periods(table, *part, where, column) for part in parts.sums]
    if parts.sums and kind == "sqlite":
        ranges = [(start, end) for _, start, end in parts.sums]
        unsummed = ledger_unsummed_rows
        selects.append(_rows(unsummed, key(unsummed, HOUR), ranges, where))
    return union_all(*selects).subquery()


def _rows(
    table: Table,
    key: Expression,
    ranges: Iterable[tuple[float, float]],
    where: UsageFilter,
) -> Query:
    row = table.c
    times = or_(*(and_(row.time >= since, row.time < until) for since, until in ranges))
    return _labelled(key, row.currency, row_sums(table)).where(times, *conditions(table, where))


def row_sums(table: Table = ledger) -> list[Expression]:
    """The expressions of a row for each of `SUMS`."""
    row = table.c
    is_request = row.outcome != CANCELLED
    has_failed = row.outcome.not_in((Outcome.CALLER_LEFT.value, CANCELLED)) & (
        (row.outcome != Outcome.COMPLETE.value) | (row.status >= 400)
    )
    return [
        *(case((counted, 1), else_=0) for counted in (is_request, has_failed)),
        *(row[name] for name in SUMMED_COUNTS),
        *_halves(row.cost),
        case((row.first_byte.is_not(None), 1), else_=0),
        func.coalesce(row.first_byte, 0.0),
        *_halves(row.margin),
    ]


def _halves(amount: Expression) -> tuple[Expression, Expression]:
    """The bits of an amount above COST_BITS, and those below."""
    high = amount.op(">>")(literal_column(str(COST_BITS)))
    return high, amount.op("&")(literal_column(str((1 << COST_BITS) - 1)))


def _periods(
    table: FromClause, period: int, start: int, end: int, where: UsageFilter, column: str
) -> Query:
    columns = table.c
    key = columns[column] if column else columns.start
    sums = _labelled(key, columns.currency, [columns[name] for name in SUMS])
    if table is ledger_totals:
        sums = sums.where(columns.period == period)
    return sums.where(columns.start >= start, columns.start < end, *conditions(table, where))


def _labelled(key: Expression, currency: Expression, sums: Iterable[Expression]) -> Query:
    labels = (value.label(name) for name, value in zip(SUMS, sums, strict=True))
    return select(key.label("key"), currency.label("currency"), *labels)


def conditions(table: FromClause, where: UsageFilter) -> list[ColumnElement[bool]]:
    """Those of a filter, without its times, for the columns of a table."""
    columns = table.c
    names = ("token", "team", "client", "session", "via")
    selected = [columns[name] == value for name in names if (value := getattr(where, name))]
    if where.model:
        selected.append(
            or_(columns.model_asked == where.model, columns.model_served == where.model)
        )
    return selected


def floor_time(time: Expression, seconds: int, kind: str) -> Expression:
    """The time rounded down to a multiple of `seconds`, in a database of this kind."""
    length: Expression = literal_column(str(seconds))
    quotient: Expression = time / length
    # SQLite's cast truncates; PostgreSQL's rounds.
    return cast(quotient if kind == "sqlite" else func.floor(quotient), BigInteger) * length
