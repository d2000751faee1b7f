"""The table `usage`: inserts each entry of the ledger once, and deletes old rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import orjson
from sqlalchemy import Connection, event, text
from sqlalchemy.exc import DataError, IntegrityError

from engine.stores.ledger.entry import Entry
from engine.stores.records.database import Database
from engine.stores.records.failures import RecordsError
from engine.stores.records.schema import usage

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
"""Rows of one statement to SQLite, the largest first. Its driver releases the GIL between two
statements, which costs the thread that serves requests more time than a row."""


def _insert(rows: str) -> str:
    return f"INSERT INTO usage ({_NAMES}) {rows} ON CONFLICT (id) DO NOTHING"


_INSERT_SQLITE = {
    count: _insert(f"VALUES {', '.join([_PLACEHOLDERS] * count)}") for count in _SQLITE_ROWS
}
# One JSON parameter costs the worker a tenth of what one parameter for each value does.
_INSERT_POSTGRESQL = _insert(
    f"SELECT {_NAMES} FROM json_to_recordset(%s::json) AS row({_DEFINITIONS})"  # noqa: S608
)
_DELETE = text(
    "DELETE FROM usage WHERE id IN "
    "(SELECT id FROM usage WHERE time < :before ORDER BY time LIMIT :limit)"
)
_VACUUM_PAGES = 2000
"""Pages of SQLite's file that are freed at a time: more than a thousand rows have."""
_DELETE_LOCK = 0x6D77_6F6C_64
"""The advisory lock in PostgreSQL of the process that deletes rows."""
_ROW_ERRORS = ("22", "23", "54")
"""Classes of PostgreSQL's SQLSTATE that are about the row: data, constraints, size."""


class RowsRefused(RecordsError):
    """The database answers, and does not take one of these rows."""


class UsageTable:
    """The table `usage` of a database.

    `blocks` says that a query blocks its thread: call it in a thread pool, with a `Database` of its
    own. Rows are on the disk when `insert` returns. `prepare` creates the tables before the first
    insert, because the database may have been away when the program started.
    """

    def __init__(self, database: Database, prepare: Callable[[], None] | None = None) -> None:
        self.database = database
        self._prepare = prepare
        self.blocks = database.kind == "sqlite"
        if self.blocks:
            event.listen(database.engine, "connect", _sync_commits)

    def insert(self, entries: Sequence[Entry]) -> int:
        """Insert all entries, or none; an entry whose id is there changes nothing. How many were
        new.

        Raises RowsRefused when one of them is at fault, else RecordsError.
        """
        if not entries:
            return 0
        if self._prepare is not None:
            self._prepare()
            self._prepare = None
        try:
            insert = _sqlite_insert(entries) if self.blocks else _postgresql_insert(entries)
            return self.database.write(insert)
        except (RecordsError, OverflowError) as error:
            if not _is_row_error(error):
                raise
            raise RowsRefused(f"{self.database.display_url} refuses a row of the ledger") from error

    def delete_before(self, before: float, limit: int) -> int:
        """Delete at most `limit` rows from before a time (Unix seconds); how many were deleted.

        With PostgreSQL one process at a time deletes, and for others the answer is 0. SQLite's file
        shrinks where it was created with incremental vacuum (`migrate`).
        """

        def delete(connection: Connection) -> int:
            if self.database.kind == "postgresql":
                lock = text(f"SELECT pg_try_advisory_xact_lock({_DELETE_LOCK})")
                if not connection.execute(lock).scalar():
                    return 0
            return connection.execute(_DELETE, {"before": before, "limit": limit}).rowcount

        count = self.database.write(delete)
        if count and self.database.kind == "sqlite":
            self.database.read(_vacuum)
        return count


def _postgresql_insert(entries: Sequence[Entry]) -> Callable[[Connection], int]:
    parameters = (orjson.dumps([entry._asdict() for entry in entries]).decode(),)
    return lambda connection: connection.exec_driver_sql(_INSERT_POSTGRESQL, parameters).rowcount


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
    """A file of the journal is deleted once its rows are in: a power cut must not undo them."""
    connection.execute("PRAGMA synchronous=FULL")


def _is_row_error(error: Exception) -> bool:
    if isinstance(error, OverflowError):
        return True
    cause = error.__cause__
    state = getattr(getattr(cause, "orig", None), "sqlstate", None) or ""
    return isinstance(cause, DataError | IntegrityError) or state.startswith(_ROW_ERRORS)
