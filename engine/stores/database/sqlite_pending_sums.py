"""SQLite: rows that are not in the sums yet. Triggers of the migrations note each inserted row, and
reports read the noted rows one by one.

A row changes four sums. If many models and operations are used, these lie on as many pages of the
file: to add a row at once takes ten times as long as to insert it. In the order of their keys,
thousands of rows change the same pages.
"""

from __future__ import annotations

from sqlalchemy import Connection

from engine.stores.database.periods import HOUR, PERIODS
from engine.stores.database.schema import COST_BITS, MODEL_NAMES, NAMES, SUMMED_COUNTS
from engine.stores.database.sums import SUMS

_HOUR = f"CAST(time / {HOUR} AS INTEGER) * {HOUR}"
_REQUEST = "outcome <> 'cancelled'"
_FAILED = "outcome NOT IN ('caller_left', 'cancelled') AND (outcome <> 'complete' OR status >= 400)"
_SUMS = ", ".join(
    f"{expression} AS {name}"
    for name, expression in zip(
        SUMS,
        (
            *(f"sum({_REQUEST})", f"sum({_FAILED})", *(f"sum({name})" for name in SUMMED_COUNTS)),
            *(f"sum(cost >> {COST_BITS})", f"sum(cost & {(1 << COST_BITS) - 1})"),
            *("count(first_byte)", "coalesce(sum(first_byte), 0.0)"),
            *(f"sum(margin >> {COST_BITS})", f"sum(margin & {(1 << COST_BITS) - 1})"),
        ),
        strict=True,
    )
)


_LISTED = ", ".join(NAMES)
_ROWS = (
    f"WITH hours AS MATERIALIZED (SELECT {_HOUR} AS hour, {_LISTED}, {_SUMS} "  # noqa: S608
    f"FROM ledger_unsummed_rows WHERE id <= ? GROUP BY hour, {_LISTED})"
)
"""The sums by hour of the rows up to an id."""


def _addition(table: str, periods: str, names: tuple[str, ...], start: str) -> str:
    """The statement that adds the rows up to an id to a table of sums, in the order of its keys."""
    period = "period, " if periods else ""
    key = " || ".join(f"quote({name})" for name in names)
    columns = ", ".join(("start", "key", *names, *SUMS))
    added = ", ".join(f"sum({name})" for name in SUMS)
    sums = ", ".join(f"{name} = {table}.{name} + excluded.{name}" for name in SUMS)
    return (
        f"{_ROWS} INSERT INTO {table} ({period}{columns}) "  # noqa: S608
        f"SELECT {period}{start} AS begin, {key}, {', '.join(names)}, {added} FROM hours{periods} "
        f"WHERE true GROUP BY {period}begin, {', '.join(names)} ORDER BY 1, 2, 3 "
        f"ON CONFLICT ({period}start, key) DO UPDATE SET {sums}"
    )


_PERIODS = " UNION ALL ".join(f"SELECT {seconds} AS period" for seconds in PERIODS)
_ADDITIONS = (
    _addition("ledger_totals", f" CROSS JOIN ({_PERIODS})", NAMES, "hour - hour % period"),
    _addition("ledger_models", "", MODEL_NAMES, "hour"),
)


def add_sums(connection: Connection, rows: int) -> bool:
    """Add the first noted rows, at most so many, to the sums. Returns whether there may be more."""
    execute = connection.exec_driver_sql
    ids = "SELECT id FROM ledger_unsummed ORDER BY id"
    last = execute(f"{ids} LIMIT 1 OFFSET ?", (rows - 1,)).scalar()
    end = last or execute("SELECT max(id) FROM ledger_unsummed").scalar()
    if end is not None:
        for addition in _ADDITIONS:
            execute(addition, (end,))
        execute("DELETE FROM ledger_unsummed WHERE id <= ?", (end,))
    return last is not None
