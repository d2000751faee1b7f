"""Admission of connections to a worker, and its idle connections.

The law: a connection is admitted while file descriptors are left (`process/file_descriptors.py`).
When they run short, the connection that has been idle longest is closed; if none is idle, the
caller is answered 503 at once. Beyond `server.connections` callers wait in the backlog of the
listening socket, where another worker may accept them. The telemetry listener has a few descriptors
reserved, so that metrics and health are served when the gateway is full.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Sized

from gevent.pool import Pool

from engine.process import file_descriptors
from engine.server.sockets.caller_socket import GeventSocket, end_input

_LINGER = 0.5
"""Seconds in which a refused caller may read the response."""
_FRESH = 0.1
"""Seconds for which a new connection does not count as idle: its request may be on its way."""


class IdleConnections(dict[GeventSocket, float]):
    """The sockets that wait for a request, longest first, with the time since when."""

    def close(self, seconds: float) -> None:
        """Close those that have waited for `seconds` or longer."""
        before = time.monotonic() - seconds
        for sock in [sock for sock, since in self.items() if since <= before]:
            end_input(sock)

    def close_longest(self) -> bool:
        """Close the one that has waited longest. Whether one could be closed."""
        sock, since = next(iter(self.items()), (None, 0.0))
        if sock is None or since > time.monotonic() - _FRESH:
            return False
        del self[sock]
        end_input(sock)
        return True


class Admission:
    """Admits connections over all listeners of a worker, at most `connections` for each.

    `refusal` makes the bytes of a 503 for the address of a caller.
    """

    def __init__(
        self, connections: int, idle: IdleConnections, refusal: Callable[[object], bytes]
    ) -> None:
        self.pools: list[Pool] = []
        self._idle = idle
        self._refusal = refusal
        most, reserve = file_descriptors.capacity()
        self._reserved = max(1, reserve // 4)
        self._most = max(1, most - self._reserved // 2)  # a caller takes two descriptors
        self._tight = min(self._most, connections - 1)
        self._lingering = Pool(max(1, reserve // 8))

    def admits(self, connections: Sized = (), idle: IdleConnections | None = None) -> bool:
        """Whether one more connection is admitted. The telemetry listener gives its connections and
        those of them that are idle: only these are closed for it."""
        if idle is not None and (len(connections) < self._reserved or idle.close_longest()):
            return True
        closed = self.make_room()
        if self.connected < self._most:
            return True
        file_descriptors.warn_exhausted()
        return closed

    def make_room(self) -> bool:
        """Close an idle connection if descriptors run short. Whether one was closed. The worker
        calls it periodically, as a full listener accepts nothing."""
        return self.connected >= self._tight and self._idle.close_longest()

    @property
    def connected(self) -> int:
        """The number of connections."""
        return sum(map(len, self.pools))

    def refuse(self, client: GeventSocket, address: object) -> None:
        """Answer 503 without waiting."""
        client.settimeout(0.0)
        with contextlib.suppress(OSError):  # it may have left, or sent nothing yet
            client.recv(65_536)
        with contextlib.suppress(OSError):
            client.send(self._refusal(address))
            client.shutdown(socket.SHUT_WR)
        if self._lingering.full():
            client.close()
        else:
            self._lingering.spawn(_linger, client)


def _linger(client: GeventSocket) -> None:
    """Read for a moment: a socket that is closed with unread bytes resets the connection."""
    end = time.monotonic() + _LINGER
    with contextlib.closing(client), contextlib.suppress(OSError):
        while (seconds := end - time.monotonic()) > 0:
            client.settimeout(seconds)
            if not client.recv(65_536):
                break
