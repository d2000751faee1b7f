"""The send buffer of one side.

Bytes that the socket does not accept at once are sent later by the event loop. Of the waiting pongs
only the latest is kept; it is sent between two pieces (RFC 6455 5.5.3). The users of the buffer
bound its size: they pause while it is `full`.
"""

from __future__ import annotations

import ssl
import time
from collections import deque

from gevent import get_hub
from gevent.event import Event

from engine.exchange.member_protocols import Socket

FULL = 256 * 1024
"""The backlog, in bytes, above which the users must pause."""

_WRITE = 2  # the event loop's flag for a descriptor that can be written
NOT_NOW = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Outbox:
    """Sends on a non-blocking socket.

    `backlog` is in bytes, `moved` the time (`time.monotonic`) at which the socket last accepted a
    part of it; `broken`: nothing more is sent, because the socket has failed or is to be closed.
    Call `drop` before the socket is closed: an active watcher would delay the close.
    """

    def __init__(self, sock: Socket) -> None:
        self._sock = sock
        self._waiting: deque[memoryview | bytes] = deque()
        self._pong = b""
        self._writable = get_hub().loop.io(sock.fileno(), _WRITE)  # active while there is a backlog
        self._room = Event()
        self.backlog = 0
        self.broken = False
        self.moved = time.monotonic()

    @property
    def full(self) -> bool:
        """Whether the backlog is so large that nothing more should be sent."""
        return self.backlog > FULL

    def put(self, piece: bytes) -> None:
        """Send a frame's bytes, now or when the socket accepts them."""
        if self.broken:
            return
        count = 0 if self._waiting else self._try(piece)
        if count < len(piece) and not self.broken:
            if not self._waiting:
                self._writable.start(self._flush)
            self._waiting.append(memoryview(piece)[count:])
            self.backlog += len(piece) - count

    def put_pong(self, piece: bytes) -> None:
        """Send a pong's bytes, before the backlog and in place of a waiting pong."""
        if self._waiting:
            self._pong = piece
        else:
            self.put(piece)

    def drop_pong(self) -> None:
        """Drop a waiting pong."""
        self._pong = b""

    def room(self, seconds: float) -> bool:
        """Wait until it is not `full`, or `wake` is called; False if neither happens within
        `seconds`."""
        if not self.full:
            return True
        self._room.clear()
        return self._room.wait(seconds)

    def wake(self) -> None:
        """End every wait for room."""
        self._room.set()

    def flush(self) -> None:
        """Wait until the backlog is sent."""
        while self.backlog:
            self._room.clear()
            self._room.wait()

    def drop(self) -> None:
        """Drop the backlog; nothing more is sent."""
        self.broken = True
        self._writable.stop()
        self._waiting.clear()
        self._pong = b""
        self.backlog = 0
        self._room.set()

    def _try(self, piece: memoryview | bytes) -> int:
        try:
            return int(self._sock.send(piece))
        except NOT_NOW:
            return 0
        except OSError:
            self.drop()
            return 0

    def _flush(self) -> None:
        """Send as much of the backlog as the socket accepts. Called by the event loop. With TLS,
        the same piece must be sent again after a failed try."""
        while self._waiting and (count := self._try(self._waiting[0])):
            self._accepted(count)
        if not self._waiting:
            self._writable.stop()

    def _accepted(self, count: int) -> None:
        self.moved = time.monotonic()
        self.backlog -= count
        piece = self._waiting.popleft()
        if count < len(piece):
            self._waiting.appendleft(memoryview(piece)[count:])
        elif self._pong:
            self._waiting.appendleft(self._pong)
            self.backlog += len(self._pong)
            self._pong = b""
        if self.backlog <= FULL // 2:
            self._room.set()
