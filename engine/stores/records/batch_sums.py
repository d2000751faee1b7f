"""SQLite: the sums of a batch of rows, added with one statement per table.

The trigger of the migration adds each inserted row to the sums, which takes twice as long as the
insert. While `ledger_state` has a row BATCH, the trigger does nothing, and the program that
inserted BATCH adds the rows of its transaction. No other program sees BATCH, because SQLite has one
writer at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection

from engine.stores.records.periods import HOUR, PERIODS
from engine.stores.records.schema import COST_BITS, COUNTS, MODEL_NAMES, NAMES
from engine.stores.records.sums import SUMS

BATCH = "batch"

_HOUR = f"CAST(time / {HOUR} AS INTEGER) * {HOUR}"
_REQUEST = "outcome <> 'cancelled'"
_FAILED = "outcome NOT IN ('caller_left', 'cancelled') AND (outcome <> 'complete' OR status >= 400)"
_SUMS = ", ".join(
    f"{expression} AS {name}"
    for name, expression in zip(
        SUMS,
        (
            *(f"sum({_REQUEST})", f"sum({_FAILED})", *(f"sum({name})" for name in COUNTS)),
            *(f"sum(cost >> {COST_BITS})", f"sum(cost & {(1 << COST_BITS) - 1})"),
            *("count(first_byte)", "coalesce(sum(first_byte), 0.0)"),
        ),
        strict=True,
    )
)


_LISTED = ", ".join(NAMES)
_ROWS = (
    f"WITH hours AS MATERIALIZED (SELECT {_HOUR} AS hour, {_LISTED}, {_SUMS} "  # noqa: S608
    f"FROM usage WHERE rowid > ? GROUP BY hour, {_LISTED})"
)
"""The sums by hour of the rows after a rowid."""


def _addition(table: str, periods: str, names: tuple[str, ...], start: str) -> str:
    """The statement that adds the rows after a rowid to a table of sums."""
    period = "period, " if periods else ""
    key = " || ".join(f"quote({name})" for name in names)
    columns = ", ".join(("start", "key", *names, *SUMS))
    added = ", ".join(f"sum({name})" for name in SUMS)
    sums = ", ".join(f"{name} = {table}.{name} + excluded.{name}" for name in SUMS)
    return (
        f"{_ROWS} INSERT INTO {table} ({period}{columns}) "  # noqa: S608
        f"SELECT {period}{start} AS begin, {key}, {', '.join(names)}, {added} FROM hours{periods} "
        f"WHERE true GROUP BY {period}begin, {', '.join(names)} "
        f"ON CONFLICT ({period}start, key) DO UPDATE SET {sums}"
    )


_PERIODS = " UNION ALL ".join(f"SELECT {seconds} AS period" for seconds in PERIODS)
_ADDITIONS = (
    _addition("ledger_totals", f" CROSS JOIN ({_PERIODS})", NAMES, "hour - hour % period"),
    _addition("ledger_models", "", MODEL_NAMES, "hour"),
)


@contextmanager
def sum_batch(connection: Connection) -> Iterator[None]:
    """Add the rows that the block inserts to the sums, at its end."""
    execute = connection.exec_driver_sql
    execute("INSERT INTO ledger_state VALUES (?, 1)", (BATCH,))
    last = execute("SELECT coalesce(max(rowid), 0) FROM usage").scalar()
    yield
    for addition in _ADDITIONS:
        execute(addition, (last,))
    execute("DELETE FROM ledger_state WHERE name = ?", (BATCH,))
