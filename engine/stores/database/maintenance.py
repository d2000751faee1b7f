"""Upkeep of the ledger's tables in short transactions: deletes old rows and sums, and computes the
sums of rows that are older than the tables of sums.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from math import floor

from sqlalchemy import (
    Connection,
    Delete,
    Insert,
    Table,
    delete,
    func,
    insert,
    literal_column,
    select,
    text,
    tuple_,
    union_all,
    update,
)

from engine.stores.database.database import upsert
from engine.stores.database.partitions import drop_months
from engine.stores.database.periods import HOUR, PERIODS, TAG_PERIODS, round_up
from engine.stores.database.schema import (
    MODEL_NAMES,
    NAMES,
    TAG_NAMES,
    TAG_SUMS,
    ledger,
    ledger_models,
    ledger_state,
    ledger_tags,
    ledger_totals,
    usage,
)
from engine.stores.database.sums import SUMS, Expression, floor_time, row_sums, state

_DELETE_LOCK = 0x6D77_6F6C_64
"""The advisory lock in PostgreSQL of the process that deletes rows."""
_FILL_LOCK = 0x6D77_6669_6C
"""The advisory lock in PostgreSQL of the process that computes sums."""


def delete_before(connection: Connection, before: float, limit: int) -> int:
    """Delete rows and sums from before a time, at most `limit` per table, and all months that ended
    before it. Returns the largest number of rows deleted from a table."""
    if not _locks(connection, _DELETE_LOCK):
        return 0
    if before > state(connection, "rows_from"):
        _set_state(connection, "rows_from", before)
    if connection.dialect.name == "postgresql":
        drop_months(connection, before)
    statements = [_delete_rows(before, limit), _delete_periods(ledger_models, HOUR, before, limit)]
    for table, periods in ((ledger_totals, PERIODS), (ledger_tags, TAG_PERIODS)):
        statements += [_delete_periods(table, period, before, limit) for period in periods]
    return max(connection.execute(statement).rowcount for statement in statements)


def _delete_rows(before: float, limit: int) -> Delete:
    old = select(usage.c.id).where(usage.c.time < before).order_by(usage.c.time).limit(limit)
    return delete(usage).where(usage.c.id.in_(old))


def _delete_periods(table: Table, period: int, before: float, limit: int) -> Delete:
    key = tuple_(*table.primary_key.columns)
    old = select(*table.primary_key.columns).where(table.c.start <= floor(before) - period)
    if table is not ledger_models:
        old = old.where(table.c.period == period)
    return delete(table).where(key.in_(old.order_by(table.c.start).limit(limit)))


def has_sums(connection: Connection) -> bool:
    """Whether the sums contain all rows."""
    return all(state(connection, name) <= 0 for name in _FILLS)


def fill(connection: Connection, rows: int) -> bool:
    """Compute the sums of the latest hours without any, for `rows` rows or more, up to a whole
    hour. Returns whether there may be more hours.

    Inserts wait meanwhile, so that each row is added once: here, or because of a trigger.
    """
    name = next((name for name in _FILLS if state(connection, name) > 0), None)
    if name is None or not _locks(connection, _FILL_LOCK):
        return False
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL statement_timeout = '30s'"))
        connection.execute(text("LOCK TABLE ledger IN SHARE ROW EXCLUSIVE MODE"))
    end = int(state(connection, name))
    start = _start(connection, end, rows)
    _FILLS[name](connection, start, end)
    _set_state(connection, name, start)  # in SQLite a trigger: these rows wait no longer
    return True


def _start(connection: Connection, end: int, rows: int) -> int:
    """The start of the hours before `end` that have `rows` rows, 0 if there are no more."""
    first = connection.execute(
        select(ledger.c.time)
        .where(ledger.c.time < end, ledger.c.time >= state(connection, "rows_from"))
        .order_by(ledger.c.time.desc())
        .offset(rows - 1)
        .limit(1)
    ).scalar()
    return 0 if first is None else max(0, floor(first / HOUR) * HOUR)


def _fill_totals(connection: Connection, start: int, end: int) -> None:
    """Compute the sums of all rows of some hours anew: triggers have added late ones."""
    for table, names, period in ((ledger_models, MODEL_NAMES, None), (ledger_totals, NAMES, HOUR)):
        connection.execute(_clear(table, period, start, end))
        connection.execute(_sums_of_rows(connection, table, names, start, end))
    for shorter, period in pairwise(PERIODS):
        connection.execute(_clear(ledger_totals, period, start, end))
        connection.execute(_sums_of_sums(shorter, period, start, end))


def _fill_tags(connection: Connection, start: int, end: int) -> None:
    """Add the tagged rows of some hours to the sums of their periods: triggers leave them out."""
    kind = connection.dialect.name
    values = dict(zip(SUMS, row_sums(), strict=True))
    others = [ledger.c.tags, ledger.c.currency, *(values[name].label(name) for name in TAG_SUMS)]
    nobody: Expression = literal_column("''")
    holders = ("token", ledger.c.token, nobody), ("team", nobody, ledger.c.team)
    counted = union_all(
        *(
            select(
                literal_column(str(period)).label("period"),
                floor_time(ledger.c.time, period, kind).label("start"),
                *(token.label("token"), team.label("team"), *others),
            ).where(
                *(ledger.c.time >= start, ledger.c.time < end),
                *(ledger.c.tags != "", ledger.c[holder] != ""),
            )
            for holder, token, team in holders
            for period in TAG_PERIODS
        )
    ).subquery()
    names = [counted.c[name] for name in TAG_NAMES]
    sums = (func.sum(counted.c[name]) for name in TAG_SUMS)
    period, begin = counted.c.period, counted.c.start
    rows = select(period, begin, _key(connection, names), *names, *sums)
    rows = rows.group_by(period, begin, *names)
    columns = ["period", "start", "key", *TAG_NAMES, *TAG_SUMS]
    new = upsert(ledger_tags, kind).from_select(columns, rows)
    new_sums = {name: ledger_tags.c[name] + new.excluded[name] for name in TAG_SUMS}
    connection.execute(
        new.on_conflict_do_update(index_elements=["period", "start", "key"], set_=new_sums)
    )


_FILLS = {"totals_from": _fill_totals, "tags_from": _fill_tags}
"""What computes sums of old rows, by the name of the time from which they are complete."""


def _clear(table: Table, period: int | None, start: int, end: int) -> Delete:
    clear = delete(table).where(table.c.start >= start, table.c.start < end)
    return clear if period is None else clear.where(table.c.period == period)


def _sums_of_rows(
    connection: Connection, table: Table, names: Iterable[str], start: int, end: int
) -> Insert:
    columns = [ledger.c[name] for name in names]
    hour = floor_time(ledger.c.time, HOUR, connection.dialect.name)
    query = (
        select(hour, _key(connection, columns), *columns, *map(func.sum, row_sums()))
        .where(ledger.c.time >= start, ledger.c.time < end)
        .group_by(hour, *columns)
    )
    targets = ["start", "key", *names, *SUMS]
    if table is ledger_totals:
        query = query.add_columns(literal_column(str(HOUR)))
        targets.append("period")
    return insert(table).from_select(targets, query)


def _sums_of_sums(shorter: int, period: int, start: int, end: int) -> Insert:
    """The sums of periods that begin in [start, end), from those of shorter periods."""
    row = ledger_totals.c
    length: Expression = literal_column(str(period))
    begin = row.start - row.start % length
    columns = [row.key, *(row[name] for name in NAMES)]
    query = (
        select(length, begin, *columns, *(func.sum(row[name]) for name in SUMS))
        .where(row.period == shorter)
        .where(row.start >= round_up(start, period), row.start < round_up(end, period))
        .group_by(begin, *columns)
    )
    return insert(ledger_totals).from_select(["period", "start", "key", *NAMES, *SUMS], query)


def _key(connection: Connection, columns: Iterable[Expression]) -> Expression:
    """The `key` of a sum, computed as in the triggers of `migrations`."""
    names = [column.name for column in columns]
    if connection.dialect.name == "sqlite":
        return literal_column(" || ".join(f"quote({name})" for name in names))
    row = f"ROW({', '.join(names)})::text"
    return literal_column(f"substring(sha256(convert_to({row}, 'UTF8')) FOR 16)")


def _locks(connection: Connection, lock: int) -> bool:
    """Take a lock until the end of the transaction, unless another process has it."""
    if connection.dialect.name == "sqlite":  # it has one writer at a time
        return True
    return bool(connection.execute(text(f"SELECT pg_try_advisory_xact_lock({lock})")).scalar())


def _set_state(connection: Connection, name: str, value: float) -> None:
    change = update(ledger_state).where(ledger_state.c.name == name).values(value=value)
    if not connection.execute(change).rowcount:
        connection.execute(insert(ledger_state).values(name=name, value=value))
