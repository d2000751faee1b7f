"""A caller's socket: a read buffer, timeouts, and sends that wait only if they must."""

from __future__ import annotations

import contextlib
import socket
import time

import gevent.socket
from gevent.monkey import get_original

from engine.exchange.caller_connection import HeavyCalls

GeventSocket = gevent.socket.socket
"""The socket of a caller, plain or TLS."""

_PIECE = 65_536
_LINGER_IDLE = 1.0
_LINGER_RATE = 1_000_000
_os_socket = get_original("socket", "socket")


class CallerSocket:
    """A gevent socket, plain or TLS. `timeout` is in seconds, None for no timeout.

    `buffered` holds bytes that were received and not used yet. `heavy_calls` are for requests that
    come over it as messages of a WebSocket."""

    __slots__ = ("_socket_timeout", "buffered", "can_try", "heavy_calls", "sock", "timeout")

    def __init__(self, sock: GeventSocket) -> None:
        self.sock = sock
        self.buffered = b""
        self.heavy_calls: HeavyCalls | None = None
        self.can_try = type(sock) is gevent.socket.socket  # TLS may have to read in order to send
        self.timeout: float | None = None
        self._socket_timeout: float | None = None  # that of the gevent socket

    def receive(self) -> bytes:
        """The buffered bytes, or else the next bytes received; b"" at the end of the stream."""
        data, self.buffered = self.buffered, b""
        if data:
            return data
        self.set_socket_timeout()
        return self.sock.recv(_PIECE)

    def send(self, data: bytes) -> None:
        """Send all bytes. Raises TimeoutError, OSError."""
        count = self.try_send(data) if self.can_try else 0
        if count == len(data):
            return
        self.set_socket_timeout()
        rest = memoryview(data)[count:]
        count = self.sock.send(rest)
        if count < len(rest):  # not at once: gevent's sendall costs a getsockopt
            self.sock.sendall(rest[count:])

    def set_socket_timeout(self) -> None:
        """Set `timeout` on the gevent socket. Called before a wait; most requests need none."""
        if self.timeout != self._socket_timeout:
            self._socket_timeout = self.timeout
            self.sock.settimeout(self.timeout)

    def wait_for_caller(self, seconds: float) -> None:
        """Wait until the caller closes the connection, or sends something."""
        with contextlib.suppress(OSError):
            self.sock.settimeout(seconds)
            self.sock.recv(1)

    def try_send(self, data: bytes) -> int:
        """Send without waiting. Returns the number of bytes sent; the next `send` raises an error
        of the connection."""
        try:
            return self.sock.send(data, 0, 0.0)  # type: ignore[call-arg]  # the timeout of gevent
        except OSError:
            return 0


def linger(sock: GeventSocket, size: int) -> None:
    """End the response on a gevent socket, then read at most `size` bytes (see
    `CallerConnection.linger`): for a second, or as long as they take at 1 MB per second, and until
    nothing has come for a second."""
    end = time.monotonic() + max(_LINGER_IDLE, size / _LINGER_RATE)
    remaining = size
    with contextlib.suppress(OSError):  # the caller left, or sends nothing more
        sock.shutdown(socket.SHUT_WR)
        while remaining > 0 and (seconds := end - time.monotonic()) > 0:
            sock.settimeout(min(seconds, _LINGER_IDLE))
            if not (data := sock.recv(_PIECE)):
                return
            remaining -= len(data)


def end_input(sock: GeventSocket) -> None:
    """Shut down reading on a gevent socket: its reader gets the bytes that have arrived, then the
    end of the stream.

    gevent's own shutdown would raise in a waiting reader, as if the connection had broken.
    """
    duplicate = _os_socket(sock.family, sock.type, fileno=sock.fileno())
    try:
        with contextlib.suppress(OSError):  # the caller has closed it
            duplicate.shutdown(socket.SHUT_RD)
    finally:
        duplicate.detach()
