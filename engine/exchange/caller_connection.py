"""The caller's connection, as the application uses it.

The server makes one adapter per request: `server/worker_connection.py` for the gateway's worker,
`server/gunicorn_connection.py` for gunicorn's workers, `WSGIConnection` in this module for any
other WSGI server. The adapter is also `wsgi.input`. A request from inside of this process has an
`InternalConnection`.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from msgspec import Struct

from engine.exchange.opened_ids import Holder
from engine.exchange.request_record import McpMessage
from engine.values.caller import Caller

TrySend = Callable[[bytes], bool]
"""Sends one piece of a response body without blocking. False: the server buffers a part of it, and
sends that with the next piece that it gets, which may be b""."""

MIN_COSTLY = 4_096
"""Bytes of a body that is never large, whatever its check costs: to pass it costs as much."""


class InvalidFraming(Exception):
    """The request body is not framed as the request's headers say (RFC 9112 6, 7.1)."""


class Readable(Protocol):
    """The source of a request body."""

    def read(self, size: int, /) -> bytes: ...


class UpstreamSockets(Protocol):
    """The sockets to upstreams of one lane of a caller's socket
    (`engine.upstream.websockets.responses_socket.UpstreamSockets`)."""

    def send(self, client: Any, timeouts: Any, request: Any, timeout: float, /) -> Any:
        """The response of a client's upstream."""

    def close(self) -> None: ...


class InternalCaller(Struct, frozen=True):
    """Who calls an operation from inside of this process, without a token; a `caller` of None
    calls as one without a token. `token` is the digest of the token by which the caller was found,
    "" for none: its end ends the request too. So does the disconnect of the socket `fileno`, that
    of the request for which this one is made; -1 for none. `sockets` are those to upstreams of a
    request that came over a WebSocket, None for any other. `is_copy`: it copies a file; what it
    makes lives at `holder`, None for any place."""

    caller: Caller | None
    token: str = ""
    fileno: int = -1
    sockets: UpstreamSockets | None = None
    mcp: McpMessage | None = None
    is_copy: bool = False
    holder: Holder | None = None


class Answer(Protocol):
    """The response to a call from inside. Iteration raises AbortConnection where the connection of
    a caller would be cut; `close` ends the exchange."""

    status: int
    headers: list[tuple[str, str]]

    def __iter__(self) -> Iterator[bytes]: ...

    def close(self) -> None: ...


class HeavyCalls(Protocol):
    """Calls operations in a heavy worker: requests of more than `above` bytes that come over a
    socket with others (`engine.server.large_requests.operation_calls`)."""

    @property
    def above(self) -> float: ...

    def note_cost(self, operation: str, size: int, seconds: float, /) -> None:
        """Note how much processor time it took here to check a body of so many bytes."""

    def __call__(
        self, environ: dict[str, Any], body: bytes, caller: InternalCaller, /
    ) -> Answer | None:
        """The response to a request with this environ; None if this process has to serve it.
        Raises GatewayError 500 or 503, AbortConnection."""


class CallerConnection(Protocol):
    """The connection of a request, until its response is sent."""

    @property
    def internal(self) -> InternalCaller | None:
        """The caller of a request from inside, also of one that a worker has passed; None for each
        that comes from a socket, whatever its headers say."""
        ...

    @property
    def heavy_calls(self) -> HeavyCalls | None:
        """What calls operations in a heavy worker; None if the server has none."""
        ...

    def read(self, size: int, /) -> bytes:
        """The next bytes of the request body; fewer than `size` only at its end.

        Raises TimeoutError, InvalidFraming, or another OSError if the caller has disconnected.
        """
        ...

    def buffered_body(self) -> bytes | None:
        """The whole request body if it arrived together with the head, else None."""
        ...

    @property
    def try_send(self) -> TrySend | None:
        """A TrySend, after the head of the response was sent; None if the server has none."""
        ...

    @property
    def can_take_over(self) -> bool:
        """Whether the server supports `take_over`."""
        ...

    def take_over(self) -> tuple[Any, bytes]:
        """The gevent socket, and the bytes that were read from it after the request. The code that
        calls this must end by raising an OSError, so that the server writes nothing more."""
        ...

    def fileno(self) -> int:
        """The file descriptor of the socket; -1 if it is unknown."""
        ...

    def set_timeout(self, seconds: float | None) -> None:
        """Set the timeout of reads and writes; None for no timeout."""
        ...

    def close_after(self) -> bool:
        """Close the connection after the response. False if the server does not support it."""
        ...

    def linger(self, size: int) -> None:
        """End the response, then read and discard at most `size` bytes before closing, for a time
        that is bounded by the size.

        Closing a socket with unread bytes resets the connection (RFC 9112 9.6), and the caller may
        lose the end of the response.
        """
        ...


class WSGIConnection:
    """The connection under any WSGI server (PEP 3333): only the request body is accessible."""

    internal: InternalCaller | None = None
    try_send: TrySend | None = None
    heavy_calls: HeavyCalls | None = None
    can_take_over = False

    def __init__(self, body: Readable) -> None:
        self._body = body

    def read(self, size: int, /) -> bytes:
        return self._body.read(size)

    def buffered_body(self) -> bytes | None:
        return None

    def take_over(self) -> tuple[Any, bytes]:
        raise RuntimeError("this server does not support taking over a connection")

    def fileno(self) -> int:
        return -1

    def set_timeout(self, seconds: float | None) -> None:
        """No effect: the server has its own timeouts."""

    def close_after(self) -> bool:
        return False

    def linger(self, size: int) -> None:
        """No effect: the server decides how it closes the connection."""


class InternalConnection(WSGIConnection):
    """The connection of a request from inside of this process (`app/routes/internal_call.py`).
    `try_send` gets pieces of the response that the iteration over it does not yield, see
    PushStream."""

    _reader: io.BytesIO | None = None

    def __init__(
        self, body: bytes, internal: InternalCaller, try_send: TrySend | None = None
    ) -> None:
        self._data = body
        self.internal: InternalCaller = internal
        self.try_send = try_send

    def read(self, size: int, /) -> bytes:
        if self._reader is None:
            self._reader = io.BytesIO(self._data)
        return self._reader.read(size)

    def buffered_body(self) -> bytes | None:
        return self._data

    def fileno(self) -> int:
        return self.internal.fileno


class _NoBody:
    def read(self, size: int, /) -> bytes:
        return b""


NO_CONNECTION = WSGIConnection(_NoBody())
"""The connection of an exchange without a server."""
