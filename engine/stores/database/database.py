"""The database as one process uses it: connections, transactions, errors with plain messages.

Open it in the worker that uses it, after the fork. Queries of SQLite block, because a look-up takes
microseconds; the driver of PostgreSQL waits in `select`, which gevent makes cooperative.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, Table, event
from sqlalchemy.engine import URL, ExceptionContext
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from engine.stores.database.connector import (
    Connector,
    display,
)
from engine.stores.database.driver_errors import READ_ONLY, failure
from engine.stores.database.failures import DatabaseAway

T = TypeVar("T")

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


def upsert(table: Table, kind: str) -> Any:
    """An insert into a table of a `kind` of database that can be told what a conflict does:
    `on_conflict_...`. Only that dialect is imported: PostgreSQL's takes a tenth of a start."""
    return importlib.import_module(f"sqlalchemy.dialects.{kind}").insert(table)
