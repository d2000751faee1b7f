"""The database behind the records: opening it, asking it, and saying in words why it fails.

Open it where it is used: in a worker after the fork. SQLite answers a look-up in microseconds, so
it is asked on the spot; the driver of PostgreSQL waits through `select`, which gevent makes
cooperative.
"""

from __future__ import annotations

import importlib
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from gevent import monkey
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from engine.stores.records.failures import (
    BadUrl,
    DatabaseAway,
    RecordsError,
    failure,
)

T = TypeVar("T")

_POSTGRES = frozenset({"postgresql+psycopg", "postgresql", "postgres"})
_PROMPT = {
    "connect_timeout": 3,
    "tcp_user_timeout": 3000,  # ms: a host that is gone is noticed
    "keepalives_idle": 30,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "application_name": "modelway",
    "options": "-c statement_timeout=2000 -c lock_timeout=2000",  # ms
}
"""How long a connection to PostgreSQL may take for anything; the URL may say otherwise."""
_PROMPT_TRANSACTION = "SET LOCAL statement_timeout = 2000; SET LOCAL lock_timeout = 2000"
"""The same through a pooler, which refuses `options` and shares sessions: for one transaction."""
_POOLER_REFUSES = "unsupported startup parameter"


class Database:
    """Runs functions on connections, whatever the database is. Made by `open_database`.

    `shown` is the URL without its password; `kind` is `sqlite` or `postgresql`. `pooled` is true
    once a pooler in transaction mode, such as PgBouncer, turned out to stand before PostgreSQL.
    """

    def __init__(self, engine: Engine, url: URL) -> None:
        # Without its query, where a password may stand as well.
        self.shown = url.set(query={}).render_as_string(hide_password=True)
        self.kind = url.get_backend_name()
        self.engine = engine
        self.pooled = False
        if self.kind == "postgresql":
            self._listen()
        options = (
            {"isolation_level": "AUTOCOMMIT"} if self.kind == "postgresql" else {"reads": True}
        )
        self._reader = engine.execution_options(**options)

    def read(self, ask: Callable[[Connection], T], *, timeout: int = 0) -> T:
        """What `ask` finds, outside of any transaction; with `timeout`, in one that PostgreSQL may
        take so many seconds for. Raises RecordsError.

        Asks again, once, when a connection that had been idle turns out to be cut.
        """
        if timeout and self.kind == "postgresql":
            return self._run(self.engine.begin, partial(_patiently, ask, timeout))
        for last in (False, True):
            try:
                return self._run((self.engine if self.pooled else self._reader).connect, ask)
            except DatabaseAway as away:
                if last or not away.stale:
                    raise
        raise AssertionError("the second time returns or raises")

    def write(self, do: Callable[[Connection], T]) -> T:
        """Run `do` in one transaction: all of it is kept, or nothing. Raises RecordsError.

        When the database goes away at the very end, nobody knows which: do what can be repeated.
        """
        return self._run(self.engine.begin, do)

    def close(self) -> None:
        """Close the connections that are idle now; the busy ones close when they come back."""
        self.engine.dispose()

    def _listen(self) -> None:
        @event.listens_for(self.engine, "do_connect")
        def connect(dialect: Any, record: object, words: Any, options: dict[str, Any]) -> Any:
            if self.pooled:
                options.pop("options", None)
            try:
                return dialect.connect(*words, **options)
            except dialect.loaded_dbapi.OperationalError as error:
                ours = options.get("options") == _PROMPT["options"]
                if not ours or _POOLER_REFUSES not in str(error):
                    raise
            self.pooled = True
            options.pop("options")
            return dialect.connect(*words, **options)

        @event.listens_for(self.engine, "begin")
        def begins(connection: Connection) -> None:
            commits = connection.get_execution_options().get("isolation_level") == "AUTOCOMMIT"
            if self.pooled and not commits:
                connection.exec_driver_sql(_PROMPT_TRANSACTION)

    def _run(self, connect: Callable[[], Any], do: Callable[[Connection], T]) -> T:
        try:
            with connect() as connection:
                return do(connection)
        except (DBAPIError, PoolTimeout) as error:
            raise failure(error, self.shown) from error


def open_database(url: str, *, busy: float = 5.0, pool: int = 5) -> Database:
    """A database by its URL; nothing is connected yet. Raises BadUrl.

    `sqlite:////absolute/path.db` or `postgresql+psycopg://user:password@host/name`. `busy` is how
    many seconds a write to SQLite waits for others that write (it stops a whole worker, so workers
    give little), `pool` how many connections are kept.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:  # ValueError: a port that is none
        raise BadUrl(_unknown("what is given")) from error
    if parsed.drivername == "sqlite":
        return Database(_sqlite(parsed, busy, pool), parsed)
    if parsed.drivername in _POSTGRES:
        parsed = parsed.set(drivername="postgresql+psycopg")
        return Database(_postgresql(parsed, pool), parsed)
    raise BadUrl(_unknown(f"'{parsed.drivername}'"))


def _unknown(said: str) -> str:
    known = "sqlite:///var/modelway.db or postgresql+psycopg://user@host/name"
    return f"{said} is not a supported database; write {known}"


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
        # Transactions begin where we say so, not where the driver guesses.
        connection.isolation_level = None
        for pragma in ("foreign_keys=ON", "synchronous=NORMAL"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begins(connection: Connection) -> None:
        # Taking the lock for writing at once: one that reads first may find no way to write.
        if not connection.get_execution_options().get("reads"):
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _postgresql(url: URL, pool: int) -> Engine:
    _cooperative()
    said = {key: value for key, value in _PROMPT.items() if key not in url.query}
    return create_engine(
        url,
        pool_size=pool,
        max_overflow=pool,
        pool_timeout=2,
        pool_recycle=1800,
        pool_use_lifo=True,
        # Plans that the server keeps break behind a pooler such as pgbouncer.
        connect_args={"prepare_threshold": None, **said},
    )


def _patiently(ask: Callable[[Connection], T], timeout: int, connection: Connection) -> T:
    connection.exec_driver_sql(f"SET LOCAL statement_timeout = '{timeout}s'")
    return ask(connection)


def _cooperative() -> None:
    """Make the driver wait through gevent also where it was imported before gevent patched.

    gunicorn's master imports it unpatched when it looks at the database before it forks.
    """
    waiting = importlib.import_module("psycopg.waiting")
    if monkey.is_module_patched("select") and waiting.wait is getattr(waiting, "wait_c", None):
        importlib.reload(waiting)


def file_of(database: Database) -> Path | None:
    """SQLite's file, or None for a server."""
    return Path(str(database.engine.url.database)) if database.kind == "sqlite" else None


__all__ = ["BadUrl", "Database", "DatabaseAway", "RecordsError", "file_of", "open_database"]
