"""The table `usage`: inserts each entry of the ledger once, deletes old rows, and reads the rows
one after the other for exports."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

import orjson
from sqlalchemy import Connection, and_, event, or_, select
from sqlalchemy.exc import DataError, IntegrityError

from engine.stores.database.database import Database
from engine.stores.database.failures import DatabaseError, RowsRefused
from engine.stores.database.maintenance import delete_before, fill, has_sums
from engine.stores.database.partitions import create_months
from engine.stores.database.schema import ledger, usage
from engine.stores.database.sqlite_pending_sums import add_sums
from engine.stores.database.sums import UsageFilter, conditions
from engine.stores.ledger_entry import Entry

_POSTGRESQL_TYPES = {
    "TEXT": "text",
    "DOUBLE": "float8",
    "BIGINT": "int8",
    "INTEGER": "int4",
    "BOOLEAN": "bool",
}
_COLUMNS = Entry._fields
_NAMES = ", ".join(_COLUMNS)
_DEFINITIONS = ", ".join(
    f"{name} {_POSTGRESQL_TYPES[str(usage.c[name].type)]}" for name in _COLUMNS
)
_PLACEHOLDERS = f"({', '.join('?' * len(_COLUMNS))})"
_SQLITE_ROWS = (256, 32, 4, 1)
"""The numbers of rows per statement to SQLite, in descending order. Its driver releases the GIL
between statements, which costs the thread that serves requests more time than a row."""


def _insert(table: str, rows: str) -> str:
    return f"INSERT INTO {table} ({_NAMES}) {rows} ON CONFLICT DO NOTHING"


_INSERT_SQLITE = {
    count: _insert("usage", f"VALUES {', '.join([_PLACEHOLDERS] * count)}")
    for count in _SQLITE_ROWS
}
# One JSON parameter takes a tenth of the CPU time of one parameter per value.
_INSERT_POSTGRESQL = _insert(
    "ledger",
    f"SELECT {_NAMES} FROM json_to_recordset(%s::json) AS row({_DEFINITIONS})",  # noqa: S608
)
_VACUUM_PAGES = 2000
"""Pages of SQLite's file that are freed at a time: more than 1,000 rows occupy."""
_FILL_ROWS = 2000
"""Rows whose sums are computed in one transaction; inserts wait for it."""
_UNSUMMED_ROWS = 5_000
"""SQLite: rows that are added to the sums in one transaction; inserts wait for it, 0.2 s."""
_ROW_ERRORS = ("22", "23", "54")
"""Classes of PostgreSQL's SQLSTATE for an invalid row: data, constraints, size."""
_NO_PARTITION = "23514"
"""PostgreSQL's SQLSTATE for a row without a partition."""


class UsageTable:
    """The table `usage` of a database.

    `blocks`: a query blocks its thread; call it in a thread pool, with a separate `Database`. Rows
    are on the disk when `insert` returns. `prepare` creates the tables before the first insert,
    because the database may have been away when the program started.
    """

    def __init__(self, database: Database, prepare: Callable[[], None] | None = None) -> None:
        self.database = database
        self._prepare = prepare
        self._is_filled = False
        self.blocks = database.kind == "sqlite"
        if self.blocks:
            event.listen(database.engine, "connect", _sync_commits)

    def insert(self, entries: Sequence[Entry]) -> int:
        """Insert all entries or none, but skip those whose id exists. Returns the number of new
        rows. Raises RowsRefused if the database rejects a row, else DatabaseError.
        """
        if not entries:
            return 0
        if self._prepare is not None:
            self._prepare()
            self._prepare = None
        try:
            if self.blocks:
                return self.database.write(_sqlite_insert(entries))
            return self._insert_into_months(entries)
        except (DatabaseError, OverflowError, ValueError) as error:
            if not _is_row_error(error):
                raise
            raise RowsRefused(f"{self.database.display_url} refuses a row of the ledger") from error

    def insert_chosen(
        self, choose: Callable[[Connection], Sequence[Entry]], entries: Sequence[Entry]
    ) -> None:
        """Insert those of the entries that `choose` returns, in the same transaction. Raises
        DatabaseError."""

        def change(connection: Connection) -> None:
            if chosen := choose(connection):
                write = _sqlite_insert if self.blocks else _postgresql_insert
                write(chosen)(connection)

        try:
            self.database.write(change)
        except DatabaseError as error:
            if _sqlstate(error) != _NO_PARTITION:
                raise
            times = {entry.time for entry in entries}
            self.database.write(lambda connection: create_months(connection, times))
            self.database.write(change)

    def _insert_into_months(self, entries: Sequence[Entry]) -> int:
        """Insert the entries; if the partition of one is missing, make the partitions and retry."""
        insert = _postgresql_insert(entries)
        try:
            return self.database.write(insert)
        except DatabaseError as error:
            if _sqlstate(error) != _NO_PARTITION:
                raise
        times = {entry.time for entry in entries}
        self.database.write(lambda connection: create_months(connection, times))
        return self.database.write(insert)

    def delete_before(self, before: float, limit: int) -> int:
        """Delete rows older than a time (Unix seconds), at most `limit` per table. Returns the
        largest number deleted from a table; if that is `limit`, there may be more.

        In PostgreSQL one process at a time deletes, and others get 0; whole months are dropped.
        SQLite's file shrinks if it was created with incremental vacuum (`migrate`).
        """
        count = self.database.write(lambda connection: delete_before(connection, before, limit))
        if count and self.blocks:
            self.database.read(_vacuum)
        return count

    def fill(self, rows: int = _FILL_ROWS) -> bool:
        """Add rows to the sums: those that are older than the tables of sums, and in SQLite those
        that were inserted. Returns whether there may be more such rows. Raises DatabaseError."""
        if self.blocks and self.database.write(lambda c: add_sums(c, _UNSUMMED_ROWS)):
            return True
        if not self._is_filled and self.database.read(has_sums):
            self._is_filled = True
        return not self._is_filled and self.database.write(lambda c: fill(c, rows))


def _postgresql_insert(entries: Sequence[Entry]) -> Callable[[Connection], int]:
    parameters = (orjson.dumps([entry._asdict() for entry in entries]).decode(),)

    def insert(connection: Connection) -> int:
        new = connection.exec_driver_sql(_INSERT_POSTGRESQL, parameters).rowcount
        # Else the timeout would end the wait for a synchronous standby, as if it had the rows.
        connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
        return new

    return insert


def _sqlite_insert(entries: Sequence[Entry]) -> Callable[[Connection], int]:
    def insert(connection: Connection) -> int:
        new = 0
        driver: Any = connection.connection.driver_connection
        limit = driver.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) // len(_COLUMNS)
        start = 0
        for count, statement in _INSERT_SQLITE.items():
            while count <= limit and len(entries) - start >= count:
                parameters = tuple(chain.from_iterable(entries[start : start + count]))
                new += connection.exec_driver_sql(statement, parameters).rowcount
                start += count
        return new

    return insert


def _vacuum(connection: Connection) -> None:
    driver: Any = connection.connection.driver_connection
    driver.executescript(f"PRAGMA incremental_vacuum({_VACUUM_PAGES})")  # `execute` frees one page


def _sync_commits(connection: sqlite3.Connection, record: object) -> None:
    """Sync each commit: the journal's file is deleted after it, and a power cut must lose no
    row."""
    connection.execute("PRAGMA synchronous=FULL")


def _is_row_error(error: Exception) -> bool:
    if not isinstance(error, DatabaseError):  # a number beyond 64 bits, a time after the year 9999
        return True
    is_of_row = isinstance(error.__cause__, DataError | IntegrityError)
    return is_of_row or _sqlstate(error).startswith(_ROW_ERRORS)


def _sqlstate(error: DatabaseError) -> str:
    return getattr(getattr(error.__cause__, "orig", None), "sqlstate", None) or ""


PAGE = 10_000
"""Rows that are in memory at one time."""


def pages(database: Database, where: UsageFilter, size: int = PAGE) -> Iterator[Sequence[Entry]]:
    """The rows that a filter selects, by time and id, `size` at a time. Rows that come meanwhile
    are there if they are behind those that were read. Raises DatabaseError."""
    columns = ledger.c
    query = select(*(columns[name] for name in Entry._fields)).order_by(columns.time, columns.id)
    query = query.where(columns.time < where.until, *conditions(ledger, where)).limit(size)
    since, last_id = where.since, ""
    while True:
        behind = or_(columns.time > since, and_(columns.time == since, columns.id > last_id))
        page = query.where(columns.time >= since, behind)
        entries = database.read(
            lambda connection, page=page: [*map(Entry._make, connection.execute(page))]  # type: ignore[misc]
        )
        if entries:
            yield entries
        if len(entries) < size:
            return
        since, last_id = entries[-1].time, entries[-1].id
