"""The server that a client connects to: one address, or the master that Sentinels name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry
from redis.sentinel import Sentinel

from engine.stores.counters.redis.address import Address, Connection, Endpoint

SENTINEL_TIMEOUT = 1.0
"""Timeout of a query to a Sentinel in seconds; then the next one is asked."""


class RedisServer(Protocol):
    """Makes connections to a server. `name` is for messages and contains no password; `may_move`:
    the address may change."""

    name: str
    may_move: bool

    def new_connection(self) -> Connection:
        """A connection of redis-py that is not connected yet. Raises RedisError."""
        ...

    def is_current(self, connection: Connection) -> bool:
        """Whether a connection is to the current address."""
        ...

    def forget(self) -> None:
        """Drop the address after a failure, so that it is looked up again."""
        ...

    def has_moved(self) -> bool:
        """Look the address up. Returns whether it has changed."""
        ...

    def close(self) -> None: ...


class FixedServer:
    """The server at one address."""

    may_move = False

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.name = f"redis at {endpoint.name}"

    def new_connection(self) -> Connection:
        return self._endpoint.connection()

    def is_current(self, connection: Connection) -> bool:
        return True

    def forget(self) -> None:
        """Do nothing: the address never changes."""

    def has_moved(self) -> bool:
        return False

    def close(self) -> None:
        """Do nothing: it has no connections."""


class SentinelMaster:
    """The master that the Sentinels of `address` name.

    They are asked before the first connection, once a second (`has_moved`), and after a failure of
    the master. If no Sentinel answers, the last known master is used.
    """

    may_move = True

    def __init__(self, address: Address) -> None:
        self._endpoint, self._master = address.endpoints[0], address.master
        self._address: tuple[str, int] | None = None
        self.name = f"redis master '{self._master}'"
        timeouts = {
            "socket_timeout": SENTINEL_TIMEOUT,
            "socket_connect_timeout": SENTINEL_TIMEOUT,
            "retry": Retry(NoBackoff(), 0),
        }
        create: Callable[..., Any] = Sentinel  # redis-py has no types for it
        self._sentinels = create([])
        for sentinel in address.sentinels:
            self._sentinels.sentinels.append(sentinel.client(timeouts))

    def new_connection(self) -> Connection:
        if self._address is None:
            self._address = self._ask()
        return self._endpoint.at(*self._address).connection()

    def is_current(self, connection: Connection) -> bool:
        return (connection.host, connection.port) == self._address

    def forget(self) -> None:
        self._address = None

    def has_moved(self) -> bool:
        try:
            address = self._ask()
        except (RedisError, OSError):
            return False
        previous, self._address = self._address, address
        return previous not in (None, address)

    def close(self) -> None:
        for sentinel in self._sentinels.sentinels:
            sentinel.connection_pool.disconnect()

    def _ask(self) -> tuple[str, int]:
        host, port = self._sentinels.discover_master(self._master)
        return str(host), int(port)
