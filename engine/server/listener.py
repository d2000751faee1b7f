"""The connections of a worker: who is admitted, who is refused, and which wait for a request.

The law: as long as there is room, a caller is admitted. Where it is tight, the connection that has
been idle longest is closed; where none is idle, the caller is answered 503 at once. Room is what
file descriptors allow (`values/file_descriptors.py`). Beyond `server.connections` callers wait in
the listening socket instead, as another worker may take them. The listener of metrics and health
has a few places that callers cannot take: who watches the gateway is answered when it is full.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Sized
from typing import Any

import gevent
from gevent.pool import Pool
from gevent.server import StreamServer

from engine.server.caller_socket import end_input
from engine.values import file_descriptors

_PAUSE = 0.05
"""Seconds without accepting, after the last descriptor is gone."""
_LINGER = 0.5
"""Seconds for a caller who is refused to read why."""
_FRESH = 0.1
"""Seconds in which a connection's request may still be on its way to it."""


class IdleConnections:
    """The sockets that wait for a request, in the order in which they began to."""

    def __init__(self) -> None:
        self._since: dict[Any, float] = {}

    def __len__(self) -> int:
        return len(self._since)

    def add(self, sock: Any) -> None:
        """It waits from now on."""
        self._since[sock] = time.monotonic()

    def remove(self, sock: Any) -> None:
        """It waits no longer, if it did."""
        self._since.pop(sock, None)

    def close(self, seconds: float) -> None:
        """Close those that have waited for so long."""
        before = time.monotonic() - seconds
        for sock in [sock for sock, since in self._since.items() if since <= before]:
            end_input(sock)

    def close_longest(self) -> bool:
        """Close the one that has waited longest; whether there was one to be closed."""
        found = next(iter(self._since.items()), None)
        if found is None or found[1] > time.monotonic() - _FRESH:
            return False
        self.remove(found[0])
        end_input(found[0])
        return True


class Admission:
    """Which callers a worker admits, over all its listeners: at most `connections` each.

    `refusal` makes the bytes of a 503 for an address.
    """

    def __init__(
        self, connections: int, idle: IdleConnections, refusal: Callable[[Any], bytes]
    ) -> None:
        self.pools: list[Pool] = []
        self._idle = idle
        self._refusal = refusal
        most, others = file_descriptors.room()
        self._reserved = max(1, others // 4)
        self._most = max(1, most - self._reserved // 2)  # a caller takes two descriptors
        self._tight = min(self._most, connections - 1)
        self._refused = Pool(max(1, others // 4))

    def admits(self, own: Sized = (), idle: IdleConnections | None = None) -> bool:
        """Whether there is room for one more. `own` are the connections of a listener with places
        of its own, and `idle` those of them that wait: they make room for that listener alone."""
        if idle is not None and (len(own) < self._reserved or idle.close_longest()):
            return True
        closed = self.make_room()
        if self.connected < self._most:
            return True
        file_descriptors.warn_exhausted()
        return closed

    def make_room(self) -> bool:
        """Close a connection where room is tight; whether one was. To be called now and then too:
        a full listener accepts nothing, and so asks for nothing."""
        return self.connected >= self._tight and self._idle.close_longest()

    @property
    def connected(self) -> int:
        """How many callers are connected."""
        return sum(map(len, self.pools))

    def refuse(self, client: Any, address: Any) -> None:
        """Answer 503 without waiting for anything."""
        client.settimeout(0.0)
        with contextlib.suppress(OSError):  # it may have left, or sent nothing yet
            client.recv(65_536)
        with contextlib.suppress(OSError):
            client.send(self._refusal(address))
            client.shutdown(socket.SHUT_WR)
        if self._refused.full():
            client.close()
        else:
            self._refused.spawn(_linger, client)


def _linger(client: Any) -> None:
    """Read on for a moment: a socket closed with unread bytes may destroy its answer."""
    end = time.monotonic() + _LINGER
    with contextlib.closing(client), contextlib.suppress(OSError):
        while (left := end - time.monotonic()) > 0:
            client.settimeout(left)
            if not client.recv(65_536):
                break


class Listener(StreamServer):
    """gevent's server of a listening socket, with an `admission`; one that has places of its own
    is given its `idle` connections."""

    def __init__(
        self,
        sock: Any,
        handle: Callable[..., None],
        pool: Pool,
        admission: Admission,
        idle: IdleConnections | None = None,
        **tls: Any,
    ) -> None:
        super().__init__(sock, handle=handle, spawn=pool, **tls)
        self._admission = admission
        admission.pools.append(pool)
        self._own, self._own_idle = pool, idle

    def do_read(self) -> Any:
        """The next connection and its address; None when there is none to be handled."""
        try:
            accepted = super().do_read()
        except OSError as error:
            if not file_descriptors.is_exhausted(error):
                raise
            file_descriptors.warn_exhausted()
            self.stop_accepting()
            gevent.spawn_later(_PAUSE, self._resume)
            return None
        if accepted is not None and not self._admission.admits(self._own, self._own_idle):
            self._admission.refuse(*accepted)
            return None
        return accepted

    def _resume(self) -> None:
        if self.started:
            self.start_accepting()
