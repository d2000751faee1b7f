"""The database as one process uses it: connections, transactions, errors with plain messages.

Open it in the worker that uses it, after the fork. Queries of SQLite block, because a look-up takes
microseconds; the driver of PostgreSQL waits in `select`, which gevent makes cooperative.
"""

from __future__ import annotations

import importlib
import os
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

from gevent import monkey
from sqlalchemy import Connection, Engine, Table, create_engine, event
from sqlalchemy.engine import URL, ExceptionContext
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import ConnectionPoolEntry

from engine.stores.database.connector import (
    SESSION_LIMITS,
    Connector,
    display,
    parse_url,
    with_primary,
)
from engine.stores.database.driver_errors import READ_ONLY, REMOVED_FILE, failure
from engine.stores.database.failures import BadUrl, DatabaseAway

T = TypeVar("T")

_POSTGRES = frozenset({"postgresql+psycopg", "postgresql", "postgres"})
_CONNECTION_SETTINGS = {
    "connect_timeout": 3,
    "tcp_user_timeout": 3000,  # ms: detects a host that is down
    "keepalives_idle": 30,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "application_name": "modelway",
    "options": SESSION_LIMITS,
    "client_encoding": "utf8",  # by default the database's: with SQL_ASCII texts would be bytes
}
"""Time limits and encoding of connections to PostgreSQL; the URL overrides them."""
_TRANSACTION_LIMITS = "SET LOCAL statement_timeout = 2000; SET LOCAL lock_timeout = 2000"
"""The limits of a transaction through a pooler, which rejects `options` and shares sessions."""
_MAINTENANCE_LIMITS = "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 2000"
_CONSISTENT = {
    "sqlite": "BEGIN",
    "postgresql": (
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; "
        "SET LOCAL statement_timeout = '{timeout}s'; "
        "SET LOCAL work_mem = '64MB'; SET LOCAL jit = off; "
        "SELECT set_config(name, greatest(setting::int, 128)::text, true) FROM pg_settings "
        "WHERE name = 'effective_io_concurrency' AND setting <> '0'"  # 0: it cannot read ahead
    ),
}
"""The beginning of a transaction whose statements read one snapshot. The sums of a report fit into
`work_mem`; JIT compilation would take longer than the query. Pages are prefetched, because each sum
of a token is on a page of its own."""


class Database:
    """Runs functions on connections of SQLite or PostgreSQL. Made by `open_database`.

    `display_url` is the URL without its password; `kind` is `sqlite` or `postgresql`; `file` is
    SQLite's, None for a server.
    """

    def __init__(self, engine: Engine, url: URL) -> None:
        self.display_url = display(url)
        self.kind = url.get_backend_name()
        self.file = Path(str(url.database)) if self.kind == "sqlite" else None
        self.engine = engine
        self._connector = Connector()
        if self.kind == "postgresql":
            self._listen()
        options = {"reads": True} if self.file else {"isolation_level": "AUTOCOMMIT"}
        self._reader = engine.execution_options(**options)

    @property
    def pooled(self) -> bool:
        """Whether a pooler in transaction mode, such as PgBouncer, was detected."""
        return self._connector.pooled

    def read(self, query: Callable[[Connection], T]) -> T:
        """Run a query outside of transactions; once more if an idle connection was broken. Raises
        DatabaseError.
        """
        for last in (False, True):
            try:
                return self._run((self.engine if self.pooled else self._reader).connect, query)
            except DatabaseAway as away:
                if last or not away.stale:
                    raise
        raise AssertionError("the second time returns or raises")

    def read_consistently(self, query: Callable[[Connection], T], *, timeout: int) -> T:
        """Run a query whose statements read one snapshot; PostgreSQL cancels a statement after
        `timeout` seconds. Raises DatabaseError."""

        def read(connection: Connection) -> T:
            connection.exec_driver_sql(_CONSISTENT[self.kind].format(timeout=timeout))
            return query(connection)

        return self._run((self._reader if self.file else self.engine).connect, read)

    def write(self, change: Callable[[Connection], T]) -> T:
        """Run `change` in one transaction. Raises DatabaseError. `change` must be idempotent: if
        the database goes away during the commit, the result is unknown.
        """
        return self._run(self.engine.begin, change)

    def maintain(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on a connection to PostgreSQL without a time limit for statements; a lock is
        awaited for 2 s. `work` commits its transactions. Raises DatabaseError."""

        def run(connection: Connection) -> T:
            try:
                if not self.pooled:
                    connection.exec_driver_sql("SET statement_timeout = 0")
                    connection.commit()
                return work(connection)
            finally:
                connection.invalidate()  # not reused: its settings differ

        engine = self.engine.execution_options(limits=_MAINTENANCE_LIMITS)
        return self._run(engine.connect, run)

    def close(self) -> None:
        """Close idle connections now, and busy ones when they are returned."""
        self.engine.dispose()

    def _listen(self) -> None:
        event.listen(self.engine, "do_connect", self._connect)

        @event.listens_for(self.engine, "handle_error")
        def handle_error(context: ExceptionContext) -> None:
            # The primary became a standby: reconnect, to the new primary.
            if getattr(context.original_exception, "sqlstate", None) == READ_ONLY:
                context.is_disconnect = True

        @event.listens_for(self.engine, "begin")
        def begin(connection: Connection) -> None:
            options = connection.get_execution_options()
            if self.pooled and options.get("isolation_level") != "AUTOCOMMIT":
                connection.exec_driver_sql(options.get("limits", _TRANSACTION_LIMITS))

    def _connect(self, dialect: Any, record: object, arguments: Any, options: Any) -> Any:
        return self._connector.connect(dialect, arguments, options)

    def _run(
        self,
        connect: Callable[[], AbstractContextManager[Connection]],
        function: Callable[[Connection], T],
    ) -> T:
        try:
            with connect() as connection:
                return function(connection)
        except (DBAPIError, PoolTimeout) as error:
            raise failure(error, self.display_url) from error


def open_database(url: str, *, busy: float = 5.0, pool: int = 5) -> Database:
    """The database of a URL; it connects at the first use. Raises BadUrl.

    The URL is `sqlite:////absolute/path.db` or `postgresql+psycopg://user:password@host/name`; of
    several hosts, `host1:5432,host2:5432`, the primary is used. `busy` is the time in seconds that
    a write to SQLite waits for other writers (it blocks the worker, so workers use less), `pool`
    the largest number of idle connections.
    """
    try:
        parsed = parse_url(url)
    except (ArgumentError, ValueError) as error:  # ValueError: an invalid port
        raise BadUrl(_unknown("this URL")) from error
    if parsed.drivername == "sqlite":
        return Database(_sqlite(parsed, busy, pool), parsed)
    if parsed.drivername in _POSTGRES:
        parsed = with_primary(parsed.set(drivername="postgresql+psycopg"))
        return Database(_postgresql(parsed, pool), parsed)
    raise BadUrl(_unknown(f"'{parsed.drivername}'"))


def upsert(table: Table, kind: str) -> Any:
    """An insert into a table of a `kind` of database that can be told what a conflict does:
    `on_conflict_...`. Only that dialect is imported: PostgreSQL's takes a tenth of a start."""
    return importlib.import_module(f"sqlalchemy.dialects.{kind}").insert(table)


def _unknown(subject: str) -> str:
    examples = "sqlite:///var/modelway.db or postgresql+psycopg://user@host/name"
    return f"{subject} is not a supported database; write {examples}"


def _sqlite(url: URL, busy: float, pool: int) -> Engine:
    if url.database in (None, "", ":memory:") or url.query:
        raise BadUrl(
            "the records need a file that all workers share; write sqlite:///var/modelway.db"
        )
    engine = create_engine(
        url,
        pool_size=pool,
        max_overflow=pool,
        pool_timeout=2,
        connect_args={"timeout": busy},
    )

    @event.listens_for(engine, "connect")
    def connected(connection: sqlite3.Connection, record: object) -> None:
        # Not the driver but SQLAlchemy begins transactions.
        connection.isolation_level = None
        for pragma in ("foreign_keys=ON", "synchronous=NORMAL"):
            connection.execute(f"PRAGMA {pragma}")

    _watch_file(engine, str(url.database))  # after the pragmas, with which SQLite makes the file

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # Take the write lock at once: a transaction that reads first may fail to get it later.
        if not connection.get_execution_options().get("reads"):
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _watch_file(engine: Engine, file: str) -> None:
    """Let SQLite use no file that was removed or replaced since the first connection."""
    was_opened = False

    @event.listens_for(engine, "connect")
    def connected(connection: object, record: ConnectionPoolEntry) -> None:
        nonlocal was_opened
        was_opened, record.info["file"] = True, _inode(file)

    @event.listens_for(engine, "do_connect")
    def connect(*_: object) -> None:
        if was_opened and _inode(file) is None:  # SQLite would make an empty one
            raise sqlite3.OperationalError(REMOVED_FILE)

    @event.listens_for(engine, "checkout")
    def checked_out(connection: object, record: ConnectionPoolEntry, proxy: object) -> None:
        # SQLite goes on writing to a file that was replaced, where nobody sees the rows.
        if record.info["file"] != _inode(file):
            raise DisconnectionError


def _inode(file: str) -> tuple[int, int] | None:
    """The identity of a file; None if it is missing, -1 if it cannot be seen."""
    try:
        status = os.stat(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:  # SQLite, which cannot open it either, has the message
        return -1, -1
    return status.st_dev, status.st_ino


def _postgresql(url: URL, pool: int) -> Engine:
    _cooperative()
    settings = {key: value for key, value in _CONNECTION_SETTINGS.items() if key not in url.query}
    return create_engine(
        url,
        pool_size=pool,
        max_overflow=pool,
        pool_timeout=2,
        pool_recycle=1800,
        pool_use_lifo=True,
        # Prepared statements break behind a pooler such as PgBouncer.
        connect_args={"prepare_threshold": None, **settings},
    )


def _cooperative() -> None:
    """Make the driver wait through gevent, even if it was imported before the monkey patches, as in
    gunicorn's master, which checks the database before it forks.
    """
    waiting = importlib.import_module("psycopg.waiting")
    if monkey.is_module_patched("select") and waiting.wait is getattr(waiting, "wait_c", None):
        importlib.reload(waiting)
