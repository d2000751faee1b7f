"""The socket of a caller: what was read ahead of time, and sending without needless waits."""

from __future__ import annotations

import contextlib
import socket
import time
from typing import Any

import gevent.socket
from gevent.monkey import get_original

_PIECE = 65_536
_LINGER_SECONDS = 1.0
_LINGER_BYTES = 1_000_000
_os_socket = get_original("socket", "socket")


class CallerSocket:
    """A gevent socket, plain or TLS, that waits at most `timeout` seconds, None for ever.

    `buffered` was received and not used yet."""

    __slots__ = ("_socket_timeout", "buffered", "can_try", "sock", "timeout")

    def __init__(self, sock: Any) -> None:
        self.sock = sock
        self.buffered = b""
        self.can_try = type(sock) is gevent.socket.socket  # TLS may have to read in order to send
        self.timeout: float | None = None
        self._socket_timeout: float | None = None  # that of the gevent socket

    def receive(self) -> bytes:
        """All that is buffered, or what comes next; b"" at the end."""
        data, self.buffered = self.buffered, b""
        if data:
            return data
        self.set_socket_timeout()
        return bytes(self.sock.recv(_PIECE))

    def send(self, data: bytes) -> None:
        """Send all of it, waiting as long as the timeout."""
        count = self.try_send(data) if self.can_try else 0
        if count == len(data):
            return
        self.set_socket_timeout()
        rest = memoryview(data)[count:]
        count = self.sock.send(rest)
        if count < len(rest):  # gevent's sendall asks for the size of the buffer first
            self.sock.sendall(rest[count:])

    def set_socket_timeout(self) -> None:
        """Give the gevent socket its timeout, which most requests end without."""
        if self.timeout != self._socket_timeout:
            self._socket_timeout = self.timeout
            self.sock.settimeout(self.timeout)

    def try_send(self, data: bytes) -> int:
        """How many bytes could be sent at once. A failure shows at the next `send`."""
        try:
            size: int = self.sock.send(data, 0, 0.0)
        except OSError:
            return 0
        return size


def linger(sock: Any) -> None:
    """End the response on a gevent socket, then read for at most a second (see
    `CallerConnection.linger`)."""
    end = time.monotonic() + _LINGER_SECONDS
    remaining = _LINGER_BYTES
    with contextlib.suppress(OSError):  # the caller left, or sends nothing more
        sock.shutdown(socket.SHUT_WR)
        while remaining > 0 and (seconds := end - time.monotonic()) > 0:
            sock.settimeout(seconds)
            if not (data := sock.recv(_PIECE)):
                return
            remaining -= len(data)


def end_input(sock: Any) -> None:
    """Let a gevent socket read to the end of what has arrived, and no further.

    gevent's own shutdown would break off the wait of a reader, as if the connection had broken.
    """
    duplicate = _os_socket(sock.family, sock.type, fileno=sock.fileno())
    try:
        with contextlib.suppress(OSError):  # the caller has closed it
            duplicate.shutdown(socket.SHUT_RD)
    finally:
        duplicate.detach()
