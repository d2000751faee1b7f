"""Asking one upstream: `Client.send` gives an `UpstreamResponse`, or raises an UpstreamFailure.

HTTP/1.1 over a pool of kept-alive connections, inside gevent, with four timeouts. What is read is
what has arrived, and at most 64 KB of it is held, so a slow caller slows its upstream down.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from weakref import WeakSet

from engine.upstream.client.address import origin_of, proxy_of
from engine.upstream.client.connection import Connection
from engine.upstream.client.deadlines import Deadlines, Timeouts
from engine.upstream.client.dial import dial, tls_context
from engine.upstream.client.failures import ConnectTimeout, Reset
from engine.upstream.client.http1 import ResponseParser, asks_upgrade, request_head
from engine.upstream.client.pool import Pool
from engine.upstream.client.request import Spool
from engine.upstream.client.response import UpstreamResponse

__all__ = ["Client", "Spool", "Timeouts", "UpstreamResponse"]


class Client:
    """One upstream server: its address, its pool, its timeouts.

    `base_path` is the path of the URL without a trailing slash, for the caller to put before its
    targets; `host` is what the Host header says, `proxy_authorization` what its proxy is shown, ""
    for nothing. ValueError for a URL or a proxy that is odd.
    """

    proxy_authorization = ""

    def __init__(
        self,
        url: str,
        *,
        timeouts: Timeouts = Timeouts(),  # noqa: B008 - a tuple: nobody can change it
        pool_size: int = 100,
        pool_idle: float = 30.0,
        pool_age: float = 300.0,
        ca: str | None = None,
        cert: tuple[str, str] | None = None,
        verify: bool = True,
        proxy: str | None = None,
        environ: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._origin = origin_of(url)
        self._proxy = proxy_of(self._origin, proxy, environ)
        self._context = tls_context(ca, cert, verify) if self._origin.tls else None
        self._timeouts = timeouts
        self._clock = clock
        self._pool = Pool(pool_size, pool_idle, pool_age, clock)
        self._made: WeakSet[Connection] = WeakSet()
        self.base_path = self._origin.base_path
        self.host = self._origin.host_header
        # A proxy that sees the request wants the whole URL (RFC 9112 3.2.2) and its password.
        seen = self._proxy is not None and not self._origin.tls
        self._prefix = f"http://{self.host}" if seen else ""
        if self._proxy is not None:
            self.proxy_authorization = self._proxy.authorization
        self._extra: tuple[tuple[str, str], ...] = ()
        if seen and self.proxy_authorization:
            self._extra = (("Proxy-Authorization", self.proxy_authorization),)

    def send(
        self,
        method: str,
        target: str,
        headers: Sequence[tuple[str, str]],
        body: bytes | Spool | None,
        total: float | None = None,
    ) -> UpstreamResponse:
        """Send a request and wait for the head of its answer. `total` shortens that timeout.

        `target` begins with a slash. Host, Content-Length and, beside an Upgrade, Connection are
        written here and are refused among `headers`, like whatever would not stay one line:
        ValueError.

        A reused connection that ends before any byte of an answer is replaced once by a new one,
        for any method (RFC 9112 9.3.1 allows it by what is known of the server): an upstream that
        closes idle connections does so without having read the request, and shows it by a clean
        end or, when the request was already on its way, by a reset. A timeout is not such a sign.
        """
        if not target.startswith("/"):
            # Behind a proxy the target is joined to the host: without its slash it would change it.
            raise ValueError("the target of a request begins with '/'")
        length = _length(method, body)
        if self._extra:
            headers = [*headers, *self._extra]
        upgrade = asks_upgrade(headers)
        head = request_head(method, self._prefix + target, self.host, headers, length, upgrade)
        deadlines = Deadlines(self._timeouts, self._clock, total)
        connection = self._pool.take()
        if connection is not None:
            response = UpstreamResponse(
                connection, ResponseParser(method, upgrade), self._pool, deadlines
            )
            try:
                response.begin(head, body)
                return response
            except Reset as failure:
                if failure.without_traceback().answered:
                    raise
        # Not from the pool again: its connections may all have died together.
        response = UpstreamResponse(
            self._dial(deadlines), ResponseParser(method, upgrade), self._pool, deadlines
        )
        response.begin(head, body)
        return response

    def _dial(self, deadlines: Deadlines) -> Connection:
        seconds, failure = deadlines.connect()
        try:
            sock = dial(self._origin, self._proxy, self._context, seconds)
        except ConnectTimeout as timeout:
            if failure is ConnectTimeout:
                raise
            raise failure from timeout
        made = Connection(sock, self._clock())
        self._made.add(made)
        return made

    @property
    def connections(self) -> tuple[int, int]:
        """How many connections are idle, and how many carry a request."""
        idle = len(self._pool)
        return idle, max(0, len(self._made) - idle)

    def close(self) -> None:
        """Close the idle connections; the busy ones end with their answers."""
        self._pool.close()


def _length(method: str, body: bytes | Spool | None) -> int | None:
    if body is None:
        # RFC 9110 8.6: a method that means something by a body says so when there is none.
        return 0 if method in ("POST", "PUT", "PATCH") else None
    return len(body) if isinstance(body, bytes) else body.size
