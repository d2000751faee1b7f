"""Opens databases: SQLite files and PostgreSQL servers."""

from __future__ import annotations

import importlib
import os
import sqlite3

from gevent import monkey
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DisconnectionError
from sqlalchemy.pool import ConnectionPoolEntry

from engine.stores.database.connector import SESSION_LIMITS, parse_url, with_primary
from engine.stores.database.database import Database
from engine.stores.database.driver_errors import REMOVED_FILE
from engine.stores.database.failures import BadUrl

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
