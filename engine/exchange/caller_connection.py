"""The caller's connection, as the application uses it.

The server makes one adapter per request: `server/worker_connection.py` for the gateway's own
worker, `server/gunicorn_connection.py` for a worker of gunicorn's own, and `WSGIConnection` below
for any other WSGI server. Inside the application it is also `wsgi.input`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

TrySend = Callable[[bytes], bool]
"""Sends one piece of a response body without waiting. False: the server holds the rest of it, and
has to be given another piece (b"" will do) to send it."""


class InvalidFraming(Exception):
    """The request body is not framed as the request's headers say (RFC 9112 6, 7.1)."""


class Readable(Protocol):
    """Where a request body is read from."""

    def read(self, size: int, /) -> bytes: ...


class CallerConnection(Protocol):
    """The connection over which a request came, until its response is sent."""

    def read(self, size: int, /) -> bytes:
        """The next bytes of the request body: fewer than `size` only at its end.

        Raises TimeoutError, InvalidFraming, or another OSError if the caller has left.
        """
        ...

    def buffered_body(self) -> bytes | None:
        """All of the request body, if it has arrived with the head; None otherwise."""
        ...

    @property
    def try_send(self) -> TrySend | None:
        """Available once the head of a response has been sent; None where the server cannot."""
        ...

    @property
    def can_take_over(self) -> bool:
        """Whether `take_over` works."""
        ...

    def take_over(self) -> tuple[Any, bytes]:
        """The gevent socket, and the bytes that were read from it after the request. The caller of
        this method ends by raising an OSError, so that the server writes nothing more."""
        ...

    def fileno(self) -> int:
        """The descriptor of the socket; -1 where it is unknown."""
        ...

    def set_timeout(self, seconds: float | None) -> None:
        """How long the caller may send or take nothing; None: for ever."""
        ...

    def close_after(self) -> bool:
        """Close the connection after the response. False if the server does not let us."""
        ...

    def linger(self) -> None:
        """End the response, then read for at most a second.

        A socket that is closed with unread bytes resets the connection (RFC 9112 9.6), and the
        caller may lose the response that is still on its way.
        """
        ...


class WSGIConnection:
    """The connection under any WSGI server (PEP 3333): only the request body is accessible."""

    try_send: TrySend | None = None
    can_take_over = False

    def __init__(self, body: Readable) -> None:
        self._body = body

    def read(self, size: int, /) -> bytes:
        return self._body.read(size)

    def buffered_body(self) -> bytes | None:
        return None

    def take_over(self) -> tuple[Any, bytes]:
        raise RuntimeError("this server does not let go of a connection")

    def fileno(self) -> int:
        return -1

    def set_timeout(self, seconds: float | None) -> None:
        """The server has timeouts of its own."""

    def close_after(self) -> bool:
        return False

    def linger(self) -> None:
        """The server closes the connection as it likes."""


class _NoBody:
    def read(self, size: int, /) -> bytes:
        return b""


NO_CONNECTION = WSGIConnection(_NoBody())
"""For an exchange that no server has made."""
