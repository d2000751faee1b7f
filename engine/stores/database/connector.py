"""Connects to PostgreSQL: to the primary of several hosts, and through poolers."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from sqlalchemy.engine import URL, make_url

from engine.stores.database.driver_errors import READ_ONLY_SESSION
from engine.stores.database.failures import BadUrl

PRIMARY = "read-write"
"""The value of `target_session_attrs` for a server that can be written."""
_SEVERAL = re.compile(r"([^:/]+://)((?:[^/?]*@)?)([^/?@]*,[^/?@]*)(/[^?]*)?(?:\?(.*))?", re.DOTALL)
_HOST = re.compile(r"(\[[^]]+\]|[^:\[\]]+)(?::(\d+))?")


def parse_url(url: str) -> URL:
    """The URL, with several hosts as its query. Raises BadUrl, and what `make_url` raises."""
    match = _SEVERAL.fullmatch(url)
    if match is not None:
        scheme, user, hosts, path, query = match.groups()
        parts = [_HOST.fullmatch(host) for host in hosts.split(",")]
        if not all(parts):
            raise ValueError("a host or a port is invalid")
        names = ",".join(part[1].strip("[]") for part in parts if part)
        ports = ",".join(part[2] or "5432" for part in parts if part)
        parameters = [f"host={quote(names, safe=',:')}", f"port={ports}", *filter(None, [query])]
        url = f"{scheme}{user}{path or '/'}?{'&'.join(parameters)}"
    parsed = make_url(url)
    ports_named = [str(parsed.port or 0), *_values(parsed, "port")]
    if not all(port.isdigit() and int(port) < 65536 for port in ports_named):
        raise BadUrl("the port is not a number from 0 to 65535")
    return parsed


def hosts_of(url: URL) -> list[str]:
    """The hosts in the query of a URL, with their ports."""
    hosts = _values(url, "host")
    ports = _values(url, "port")
    if len(ports) != len(hosts):
        return hosts
    host_texts = (f"[{host}]" if ":" in host else host for host in hosts)
    return [f"{host}:{port}" for host, port in zip(host_texts, ports, strict=True)]


def with_primary(url: URL) -> URL:
    """The URL; with `target_session_attrs=read-write` if it names several hosts."""
    if len(hosts_of(url)) < 2 or "target_session_attrs" in url.query:
        return url
    return url.update_query_dict({"target_session_attrs": PRIMARY})


def display(url: URL) -> str:
    """The URL without its query, which may contain a password, but with the hosts in it."""
    hosts = ",".join(hosts_of(url))
    plain = url.set(query={}, host=None if hosts else url.host)
    text = plain.render_as_string(hide_password=True)
    if not hosts:
        return text
    before, _, after = text.partition("://")
    user, slash, path = after.partition("/")
    return f"{before}://{user if '@' in user or not user else user + '@'}{hosts}{slash}{path}"


def _values(url: URL, key: str) -> list[str]:
    value = url.query.get(key, ())
    values = (value,) if isinstance(value, str) else value
    return [part for item in values for part in item.split(",") if part]


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
