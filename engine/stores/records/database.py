"""The database of the records: connections, transactions, and errors with plain messages.

Open it in the worker that uses it, after the fork. SQLite answers a look-up in microseconds, so its
queries block; the driver of PostgreSQL waits in `select`, which gevent makes cooperative.
"""

from __future__ import annotations

import importlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from gevent import monkey
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from engine.stores.records.failures import BadUrl, DatabaseAway, failure

T = TypeVar("T")

_POSTGRES = frozenset({"postgresql+psycopg", "postgresql", "postgres"})
_CONNECTION_LIMITS = {
    "connect_timeout": 3,
    "tcp_user_timeout": 3000,  # ms: detects a host that is down
    "keepalives_idle": 30,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "application_name": "modelway",
    "options": "-c statement_timeout=2000 -c lock_timeout=2000",  # ms
}
"""Time limits of connections to PostgreSQL; the URL overrides them."""
_TRANSACTION_LIMITS = "SET LOCAL statement_timeout = 2000; SET LOCAL lock_timeout = 2000"
"""The limits of a transaction through a pooler, which refuses `options` and shares sessions."""
_MAINTENANCE_LIMITS = "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 2000"
_CONSISTENT = {
    "sqlite": ("BEGIN",),
    "postgresql": (
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
        "SET LOCAL statement_timeout = '{timeout}s'",
    ),
}
"""The beginning of a transaction whose statements see the database at one moment."""
_POOLER_REFUSES = "unsupported startup parameter"


class Database:
    """Runs functions on connections, whatever the database is. Made by `open_database`.

    `display_url` is the URL without its password; `kind` is `sqlite` or `postgresql`; `file` is
    SQLite's, None for a server. `pooled` is True once a pooler in transaction mode, such as
    PgBouncer, was detected before PostgreSQL.
    """

    def __init__(self, engine: Engine, url: URL) -> None:
        # Without its query, which may contain a password.
        self.display_url = url.set(query={}).render_as_string(hide_password=True)
        self.kind = url.get_backend_name()
        self.file = Path(str(url.database)) if self.kind == "sqlite" else None
        self.engine = engine
        self.pooled = False
        if self.kind == "postgresql":
            self._listen()
        options = {"reads": True} if self.file else {"isolation_level": "AUTOCOMMIT"}
        self._reader = engine.execution_options(**options)

    def read(self, query: Callable[[Connection], T]) -> T:
        """Run a query outside of transactions. Raises RecordsError.

        Runs the query again, once, when an idle connection turns out to be broken.
        """
        for last in (False, True):
            try:
                return self._run((self.engine if self.pooled else self._reader).connect, query)
            except DatabaseAway as away:
                if last or not away.stale:
                    raise
        raise AssertionError("the second time returns or raises")

    def read_consistently(self, query: Callable[[Connection], T], *, timeout: int) -> T:
        """Run a query whose statements see the database at one moment; PostgreSQL ends a statement
        after `timeout` seconds. Raises RecordsError."""

        def read(connection: Connection) -> T:
            for statement in _CONSISTENT[self.kind]:
                connection.exec_driver_sql(statement.format(timeout=timeout))
            return query(connection)

        return self._run((self._reader if self.file else self.engine).connect, read)

    def write(self, change: Callable[[Connection], T]) -> T:
        """Run `change` in one transaction, which commits all of it or nothing. Raises RecordsError.

        When the database goes away during the commit, the result is unknown: `change` must be
        idempotent.
        """
        return self._run(self.engine.begin, change)

    def maintain(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on a connection to PostgreSQL whose statements may take any time, and wait
        2 s for a lock. `work` commits its transactions. Raises RecordsError."""

        def run(connection: Connection) -> T:
            try:
                if not self.pooled:
                    connection.exec_driver_sql("SET statement_timeout = 0")
                    connection.commit()
                return work(connection)
            finally:
                connection.invalidate()  # with its settings

        engine = self.engine.execution_options(limits=_MAINTENANCE_LIMITS)
        return self._run(engine.connect, run)

    def close(self) -> None:
        """Close idle connections now, and busy ones when they are returned."""
        self.engine.dispose()

    def _listen(self) -> None:
        @event.listens_for(self.engine, "do_connect")
        def connect(dialect: Any, record: object, arguments: Any, options: dict[str, Any]) -> Any:
            if self.pooled:
                options.pop("options", None)
            try:
                return dialect.connect(*arguments, **options)
            except dialect.loaded_dbapi.OperationalError as error:
                sets_limits = options.get("options") == _CONNECTION_LIMITS["options"]
                if not sets_limits or _POOLER_REFUSES not in str(error):
                    raise
            self.pooled = True
            options.pop("options")
            return dialect.connect(*arguments, **options)

        @event.listens_for(self.engine, "begin")
        def begin(connection: Connection) -> None:
            options = connection.get_execution_options()
            if self.pooled and options.get("isolation_level") != "AUTOCOMMIT":
                connection.exec_driver_sql(options.get("limits", _TRANSACTION_LIMITS))

    def _run(self, connect: Callable[[], Any], function: Callable[[Connection], T]) -> T:
        try:
            with connect() as connection:
                return function(connection)
        except (DBAPIError, PoolTimeout) as error:
            raise failure(error, self.display_url) from error


def open_database(url: str, *, busy: float = 5.0, pool: int = 5) -> Database:
    """The database of a URL, without a connection yet. Raises BadUrl.

    `sqlite:////absolute/path.db` or `postgresql+psycopg://user:password@host/name`. `busy` is the
    seconds that a write to SQLite waits for other writers (it blocks the worker, so workers wait
    less), `pool` the maximum of idle connections.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:  # ValueError: an invalid port
        raise BadUrl(_unknown("this URL")) from error
    if parsed.drivername == "sqlite":
        return Database(_sqlite(parsed, busy, pool), parsed)
    if parsed.drivername in _POSTGRES:
        parsed = parsed.set(drivername="postgresql+psycopg")
        return Database(_postgresql(parsed, pool), parsed)
    raise BadUrl(_unknown(f"'{parsed.drivername}'"))


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
        # SQLAlchemy begins transactions, not the driver.
        connection.isolation_level = None
        for pragma in ("foreign_keys=ON", "synchronous=NORMAL"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # Take the write lock at once: a transaction that reads first may fail to get it later.
        if not connection.get_execution_options().get("reads"):
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _postgresql(url: URL, pool: int) -> Engine:
    _cooperative()
    limits = {key: value for key, value in _CONNECTION_LIMITS.items() if key not in url.query}
    return create_engine(
        url,
        pool_size=pool,
        max_overflow=pool,
        pool_timeout=2,
        pool_recycle=1800,
        pool_use_lifo=True,
        # Prepared statements break behind a pooler such as PgBouncer.
        connect_args={"prepare_threshold": None, **limits},
    )


def _cooperative() -> None:
    """Make the driver wait through gevent even when it was imported before the monkey patches.

    gunicorn's master imports it unpatched when it looks at the database before it forks.
    """
    waiting = importlib.import_module("psycopg.waiting")
    if monkey.is_module_patched("select") and waiting.wait is getattr(waiting, "wait_c", None):
        importlib.reload(waiting)
