"""The ledger's rows in the database: entering each once, and letting old ones go."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import orjson
from sqlalchemy import Connection, event, text
from sqlalchemy.exc import DataError, IntegrityError

from engine.stores.ledger.entry import NAMES, Row, named
from engine.stores.records.database import Database
from engine.stores.records.failures import RecordsError
from engine.stores.records.schema import usage

_TYPES = {
    "TEXT": "text",
    "DOUBLE": "float8",
    "BIGINT": "int8",
    "INTEGER": "int4",
    "BOOLEAN": "bool",
}
_NAMES = ", ".join(NAMES)
_TYPED = ", ".join(f"{name} {_TYPES[str(usage.c[name].type)]}" for name in NAMES)
_ROW = f"({', '.join('?' * len(NAMES))})"
_TOGETHER = (256, 32, 4, 1)
"""Rows of one statement to SQLite, the most first: between two statements its driver lets go of
Python's lock, and the thread that serves requests loses more time over that than a row takes."""


def _insert(rows: str) -> str:
    return f"INSERT INTO usage ({_NAMES}) {rows} ON CONFLICT (id) DO NOTHING"


_OF_SQLITE = {count: _insert(f"VALUES {', '.join([_ROW] * count)}") for count in _TOGETHER}
# One parameter for all rows costs the worker a tenth of what one for each value does.
_OF_POSTGRESQL = _insert(f"SELECT {_NAMES} FROM json_to_recordset(%s::json) AS row({_TYPED})")  # noqa: S608
_FORGET = text(
    "DELETE FROM usage WHERE id IN "
    "(SELECT id FROM usage WHERE time < :before ORDER BY time LIMIT :most)"
)
_PAGES = 2000
"""Pages of SQLite's file that are given back at a time: more than a thousand rows have."""
_ALONE = 0x6D77_6F6C_64  # the lock of those who let old rows go
_OF_THE_ROW = ("22", "23", "54")
"""Classes of PostgreSQL's errors that are about what is written: data, constraints, size."""


class RowsRefused(RecordsError):
    """The database is there, but does not take these rows."""


class Books:
    """The table `usage` of a database.

    `blocks` tells that asking the database stops the thread: give it a thread and a `Database` of
    its own then. What was entered is on the disk when `insert` is back. `prepare` makes the tables,
    before the first rows are entered: the database may have been away when the program began.
    """

    def __init__(self, database: Database, prepare: Callable[[], None] | None = None) -> None:
        self.database = database
        self._prepare = prepare
        self.blocks = database.kind == "sqlite"
        if self.blocks:
            event.listen(database.engine, "connect", _durable)

    def insert(self, rows: Sequence[Row]) -> int:
        """Enter rows; those whose id is there already change nothing. How many were not there.

        All of them, or none. Raises RowsRefused when one of them is at fault, else RecordsError.
        """
        if not rows:
            return 0
        if self._prepare is not None:
            self._prepare()
            self._prepare = None
        try:
            enter = _for_sqlite(rows) if self.blocks else _for_postgresql(rows)
            return self.database.write(enter)
        except (RecordsError, OverflowError) as error:
            if not _blames_a_row(error):
                raise
            raise RowsRefused(f"{self.database.shown} refuses a row of the ledger") from error

    def forget(self, before: float, most: int) -> int:
        """Delete at most so many rows from before a time (Unix seconds); how many those were.

        With PostgreSQL only one process at a time does so, and the others delete nothing. The file
        of SQLite gives the room back to the disk, where it was made so (`migrate`).
        """

        def delete(connection: Connection) -> int:
            if self.database.kind == "postgresql":
                lock = text(f"SELECT pg_try_advisory_xact_lock({_ALONE})")
                if not connection.execute(lock).scalar():
                    return 0
            return connection.execute(_FORGET, {"before": before, "most": most}).rowcount

        count = self.database.write(delete)
        if count and self.database.kind == "sqlite":
            self.database.read(_shrink)
        return count


def _for_postgresql(rows: Sequence[Row]) -> Callable[[Connection], int]:
    parameters = (orjson.dumps([named(row) for row in rows]).decode(),)
    return lambda connection: connection.exec_driver_sql(_OF_POSTGRESQL, parameters).rowcount


def _for_sqlite(rows: Sequence[Row]) -> Callable[[Connection], int]:
    def enter(connection: Connection) -> int:
        new = 0
        driver: Any = connection.connection.driver_connection
        most = driver.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) // len(NAMES)
        at = 0
        for count, statement in _OF_SQLITE.items():
            while count <= most and len(rows) - at >= count:
                parameters = tuple(chain.from_iterable(rows[at : at + count]))
                new += connection.exec_driver_sql(statement, parameters).rowcount
                at += count
        return new

    return enter


def _shrink(connection: Connection) -> None:
    driver: Any = connection.connection.driver_connection
    driver.executescript(f"PRAGMA incremental_vacuum({_PAGES})")  # `execute` frees one page


def _durable(connection: sqlite3.Connection, record: object) -> None:
    """A file of the journal goes once its rows are entered: then a power cut must not undo them."""
    connection.execute("PRAGMA synchronous=FULL")


def _blames_a_row(error: Exception) -> bool:
    if isinstance(error, OverflowError):
        return True
    cause = error.__cause__
    state = getattr(getattr(cause, "orig", None), "sqlstate", None) or ""
    return isinstance(cause, DataError | IntegrityError) or state.startswith(_OF_THE_ROW)
