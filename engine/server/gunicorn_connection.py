"""The gateway under a worker of gunicorn's own: `gunicorn -k gevent engine.wsgi:app`."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterable

from gunicorn.http.body import Body
from gunicorn.http.errors import (
    ChunkMissingTerminator,
    InvalidChunkExtension,
    InvalidChunkSize,
    ParseException,
)

from engine.edge.falcon_application import Application
from engine.exchange.caller_connection import HeavyCalls, InternalCaller, InvalidFraming, TrySend
from engine.server.environ import Environ
from engine.server.sockets.caller_socket import GeventSocket, linger

_INVALID_FRAMING = (
    ParseException,
    InvalidChunkSize,
    InvalidChunkExtension,
    ChunkMissingTerminator,
)


class WSGIAdapter:
    """The WSGI application for servers other than the gateway's own worker.

    Under gunicorn's workers the listener is found by `gunicorn.socket`; under any other server
    every request belongs to the API listener."""

    def __init__(self, application: Application) -> None:
        self._application = application

    def __call__(self, environ: Environ, start_response: Callable[..., object]) -> Iterable[bytes]:
        if "gunicorn.socket" not in environ:
            return self._application(environ, start_response)
        serve = self._application.on_listener(environ["gunicorn.socket"].getsockname())
        return serve(environ, start_response, GunicornConnection(environ))


class GunicornConnection:
    """The connection under a request that gunicorn's own worker has read."""

    internal: InternalCaller | None = None
    try_send: TrySend | None = None
    heavy_calls: HeavyCalls | None = None
    can_take_over = True

    def __init__(self, environ: Environ) -> None:
        self._sock = environ["gunicorn.socket"]
        self._body: Body = environ["wsgi.input"]

    def read(self, size: int, /) -> bytes:
        try:
            data: bytes = self._body.read(size)
        except _INVALID_FRAMING as error:
            raise InvalidFraming(str(error)) from error
        return data

    def buffered_body(self) -> bytes | None:
        return None

    def take_over(self) -> tuple[GeventSocket, bytes]:
        return self._sock, self._body.reader.unreader.take_buffered()

    def fileno(self) -> int:
        return int(self._sock.fileno())

    def set_timeout(self, seconds: float | None) -> None:
        self._sock.settimeout(seconds)

    def close_after(self) -> bool:
        """gunicorn sends no `Connection: close`; `linger` closes the connection."""
        return True

    def linger(self, size: int) -> None:
        linger(self._sock, size)
        with contextlib.suppress(OSError):  # the caller has closed it
            self._sock.shutdown(socket.SHUT_RDWR)
