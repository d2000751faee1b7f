"""Requests to one upstream: `Client.send` returns an `UpstreamResponse` or raises UpstreamFailure.

HTTP/1.1 over a pool of persistent connections, with gevent and four timeouts. At most 64 KB of a
response are buffered, so a slow caller slows its upstream down.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any
from weakref import WeakSet, ref

import gevent

from engine.upstream.client.address import origin_of, proxy_of
from engine.upstream.client.connection import Connection, without_gevent
from engine.upstream.client.deadlines import Deadlines, Timeouts
from engine.upstream.client.dial import dial
from engine.upstream.client.dial_order import Address, FixedAddress, LookupStatus
from engine.upstream.client.failures import ConnectTimeout, Reset
from engine.upstream.client.host_addresses import (
    HostAddresses,
    Lookup,
    addresses_of,
    system_lookup,
)
from engine.upstream.client.http1 import ResponseParser
from engine.upstream.client.pool import Pool
from engine.upstream.client.request import UPGRADE_END, request_head
from engine.upstream.client.response import UpstreamResponse
from engine.upstream.client.tls import TlsFiles
from engine.values.upstream_request import Spool

_MIN_PRUNE_INTERVAL = 1.0
"""Seconds between two searches for connections that were idle for too long, at least."""


class Client:
    """One upstream server: its address, its pool, its timeouts.

    `base_path` is the path of the URL without a trailing slash; users of the client prefix their
    request targets with it. `host` is the value of Host, `proxy_authorization` the value of
    Proxy-Authorization or "". Raises ValueError for an invalid URL of upstream or proxy.
    """

    __slots__ = (
        *("__weakref__", "_addresses", "_by_address", "_clock", "_connections", "_extra"),
        *("_new_pool", "_on_change", "_origin", "_pool", "_prefix", "_proxy", "_prune_interval"),
        *("_pruning", "_timeouts", "_tls", "base_path", "host", "proxy_authorization"),
    )

    def __init__(
        self,
        url: str,
        *,
        timeouts: Timeouts = Timeouts(),  # noqa: B008 - a tuple is immutable
        pool_size: int = 100,
        pool_idle: float = 30.0,
        pool_age: float = 300.0,
        ca: str | None = None,
        cert: tuple[str, str] | None = None,
        verify: bool = True,
        proxy: str | None = None,
        environ: Mapping[str, str] = os.environ,
        lookup: Lookup = system_lookup,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._origin = origin_of(url)
        self._proxy = proxy_of(self._origin, proxy, environ)
        # None for a Unix socket.
        self._addresses: FixedAddress | HostAddresses | None = self._address_source(lookup, clock)
        self._on_change: Callable[[], None] | None = None
        self._tls = TlsFiles(ca, cert, verify) if self._origin.tls else None
        self._timeouts = timeouts
        self._clock = clock
        self._new_pool = partial(Pool, pool_size, pool_idle, pool_age, clock)
        self._pool = self._new_pool()
        self._prune_interval = max(_MIN_PRUNE_INTERVAL, pool_idle)
        self._pruning: Any = None  # the timer until the pool is pruned
        # The open ones. Sets are made at the first use: there may be thousands of clients.
        self._connections: set[ref[Connection]] | None = None
        self._by_address: WeakSet[Client] | None = None  # the clients that `at` made
        self.base_path = self._origin.base_path
        self.host = self._origin.host_header
        # A proxy without a tunnel needs the absolute URL (RFC 9112 3.2.2) and its credentials.
        forwards = self._proxy is not None and not self._origin.tls
        self._prefix = f"http://{self.host}" if forwards else ""
        self.proxy_authorization = "" if self._proxy is None else self._proxy.authorization
        self._extra: tuple[tuple[str, str], ...] = ()
        if forwards and self.proxy_authorization:
            self._extra = (("Proxy-Authorization", self.proxy_authorization),)

    def send(
        self,
        method: str,
        target: str,
        headers: Sequence[tuple[str, str]],
        body: bytes | Spool | None,
        total: float | None = None,
    ) -> UpstreamResponse:
        """Send a request and wait for the head of its response. `total` (seconds) replaces the
        total timeout if it is shorter. Raises UpstreamFailure.

        `target` begins with a slash. Host, Content-Length and, with Upgrade, Connection are added
        here. Raises ValueError if `headers` has one of them, or a value that is not one line.

        If a reused connection ends before any byte of a response, the request is sent once more on
        a new one, whatever its method (RFC 9112 9.3.1): the upstream closed it while it was idle,
        and has not read the request. After a timeout nothing is sent again.
        """
        if not target.startswith("/"):
            # In the absolute URL for a proxy it would become a part of the host.
            raise ValueError("the target of a request begins with '/'")
        length: int | None
        # A body that can be sent once does not go to a connection that may have just ended.
        if isinstance(body, bytes):  # nearly always
            length, is_replayable = len(body), True
        else:
            length, is_replayable = _length(method, body), body is None or body.is_replayable
        if self._extra:
            headers = [*headers, *self._extra]
        head = request_head(method, self._prefix + target, self.host, headers, length)
        upgrade = head.endswith(UPGRADE_END)
        deadlines = Deadlines(self._timeouts, self._clock, total)
        connection = self._pool.take() if is_replayable else None
        if connection is not None:
            parser = ResponseParser(method, upgrade)
            response = UpstreamResponse(connection, parser, self._pool, deadlines)
            try:
                return response.begin(head, body)
            except Reset as failure:
                if failure.without_traceback().response_started:
                    raise
        # Not from the pool: the upstream may have closed all of its connections.
        connection, parser = self._dial(deadlines), ResponseParser(method, upgrade)
        return UpstreamResponse(connection, parser, self._pool, deadlines).begin(head, body)

    def _dial(self, deadlines: Deadlines) -> Connection:
        seconds, failure = deadlines.connect()
        context = self._tls.context() if self._tls is not None else None
        try:
            sock, address = dial(self._origin, self._proxy, context, seconds, self._addresses)
        except ConnectTimeout as timeout:
            if failure is ConnectTimeout:
                raise
            raise failure from timeout
        connection = Connection(without_gevent(sock), self._clock(), address)
        if address is not None and address not in self.lookup.addresses:
            connection.retire()  # the answer changed meanwhile
        if self._connections is None:
            self._connections = set()
        self._connections.add(ref(connection, self._connections.discard))
        if self._pruning is None:
            self._prune_later()
        return connection

    def _prune_later(self) -> None:
        # A timer, because there may be thousands of clients: a greenlet takes over a kilobyte.
        # Weak, so that a client that nobody uses any more is freed with its connections.
        self._pruning = gevent.get_hub().loop.timer(self._prune_interval)
        self._pruning.start(_prune, ref(self))

    def prune(self) -> None:
        """Close the connections that were idle for too long; again later while there are any. Does
        not wait."""
        if self._pruning is not None:
            self._pruning.close()
            self._pruning = None
        self._pool.prune()
        if self._connections:
            self._prune_later()

    def at(self, address: Address) -> Client:
        """A client for one address of this upstream, with a pool of its own and the same TLS and
        Host. Raises ValueError for an upstream behind a proxy or a Unix socket."""
        if self._proxy is not None or self._addresses is None:
            raise ValueError("a proxy or a Unix socket has no addresses of its own")
        client = copy(self)
        client._addresses = FixedAddress(address, self._addresses.refused)
        client._pool = self._new_pool()
        client._connections = client._by_address = client._pruning = None
        if self._by_address is None:
            self._by_address = WeakSet()
        self._by_address.add(client)
        return client

    def follow(self, changed: Callable[[], None]) -> None:
        """Look up the addresses now and repeatedly, also while no connection is open. `changed` is
        called when they differ from the last ones."""
        self._on_change = changed
        if isinstance(self._addresses, HostAddresses):
            self._addresses.start()

    @property
    def lookup(self) -> LookupStatus:
        """The addresses that new connections go to, and the state of their lookup."""
        return LookupStatus() if self._addresses is None else self._addresses.status

    @property
    def connections(self) -> tuple[int, int]:
        """The numbers of idle connections and of those that carry a request."""
        idle = len(self._pool)
        busy = max(0, len(self._connections or ()) - idle)
        for client in self._by_address or ():
            more_idle, more_busy = client.connections
            idle, busy = idle + more_idle, busy + more_busy
        return idle, busy

    def close(self) -> None:
        """Close the idle connections now, the others after their response."""
        self._pool.close()
        self._on_change = None
        for client in list(self._by_address or ()):
            client.close()
        if isinstance(self._addresses, HostAddresses):
            self._addresses.close()

    def _address_source(
        self, lookup: Lookup, clock: Callable[[], float]
    ) -> FixedAddress | HostAddresses | None:
        """The addresses of the proxy, or of the origin without one."""
        if self._origin.unix_path:
            return None
        server = self._proxy or self._origin
        return addresses_of(
            server.host,
            server.port,
            in_use=self._is_in_use,
            changed=self._retire_others,
            lookup=lookup,
            clock=clock,
        )

    def _is_in_use(self) -> bool:
        """Whether the addresses are in use: followed, or with a connection that is not expired."""
        self._pool.prune()
        return self._on_change is not None or bool(self._connections)

    def _retire_others(self) -> None:
        """Close connections to addresses that are not in use any more: idle ones now, the others
        when they are given back."""
        addresses = self.lookup.addresses
        for reference in list(self._connections or ()):
            connection = reference()
            if connection is not None and connection.address not in addresses:
                connection.retire()
        self._pool.prune()
        if self._on_change is not None:
            self._on_change()


def _prune(client: ref[Client]) -> None:
    if (alive := client()) is not None:
        alive.prune()


def _length(method: str, body: Spool | None) -> int | None:
    if body is None:
        # RFC 9110 8.6: a method for which a body has a meaning sends `Content-Length: 0`.
        return 0 if method in ("POST", "PUT", "PATCH", "QUERY") else None
    return body.size
