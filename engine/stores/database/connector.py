"""Connects to PostgreSQL: to the primary of several hosts, and through poolers."""

from __future__ import annotations

from typing import Any

from engine.stores.database.driver_errors import READ_ONLY_SESSION
from engine.stores.database.postgresql_url import PRIMARY

SESSION_LIMITS = "-c statement_timeout=2000 -c lock_timeout=2000"  # ms
"""Time limits of statements; a pooler in transaction mode rejects them."""
_POOLER_REFUSES = "unsupported startup parameter"


class Connector:
    """Tries the hosts in turn: first the one of the last connection, then the next one after a
    failure or a timeout, so that a host that does not answer delays one attempt.


    `pooled` is True once a pooler in transaction mode, such as PgBouncer, was detected.
    """

    def __init__(self) -> None:
        self.pooled = False
        self._first = 0

    def connect(self, dialect: Any, arguments: Any, options: dict[str, Any]) -> Any:
        """A connection of the driver, for SQLAlchemy's event `do_connect`."""
        hosts = _hosts(options)
        if len(hosts) < 2 or options.get("target_session_attrs") != PRIMARY:
            return self._connect(dialect, arguments, options)
        failure: Exception | None = None
        for _ in hosts:
            host, port = hosts[self._first % len(hosts)]
            self._first += 1
            try:
                connection = self._connect(dialect, arguments, {**options, "host": host, **port})
            except dialect.loaded_dbapi.OperationalError as error:
                failure = error
            else:
                self._first -= 1
                return connection
        assert failure is not None
        raise failure

    def _connect(self, dialect: Any, arguments: Any, options: dict[str, Any]) -> Any:
        if not self.pooled:
            try:
                return dialect.connect(*arguments, **options)
            except dialect.loaded_dbapi.OperationalError as error:
                sets_limits = options.get("options") == SESSION_LIMITS
                if not sets_limits or _POOLER_REFUSES not in str(error):
                    raise
            self.pooled = True
        options = {name: value for name, value in options.items() if name != "options"}
        if options.get("target_session_attrs") != PRIMARY:
            return dialect.connect(*arguments, **options)
        # The driver would ask the pooler, which remembers the former role of its server.
        connection = dialect.connect(*arguments, **options | {"target_session_attrs": "any"})
        try:
            row = connection.execute("SHOW transaction_read_only").fetchone()
            connection.rollback()
        except BaseException:
            connection.close()
            raise
        if row == ("off",):
            return connection
        connection.close()
        raise dialect.loaded_dbapi.OperationalError(READ_ONLY_SESSION)


def _hosts(options: dict[str, Any]) -> list[tuple[str, dict[str, str]]]:
    """Each host, with its port."""
    hosts = str(options.get("host", "")).split(",")
    ports = str(options.get("port", "")).split(",")
    if len(ports) != len(hosts):
        ports *= len(hosts)
    host_options: list[dict[str, str]] = [{"port": port} if port else {} for port in ports]
    return list(zip(hosts, host_options, strict=False))
