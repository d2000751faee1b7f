"""What is sent to one side: at once if its socket takes it, else in order, as it does.

A greenlet sends on what waits, and exists only as long. Of the pongs that have to wait only the
latest is kept, and it goes out between two pieces (RFC 6455 5.5.3). Whoever sends looks whether it
is `full`, and makes a pause: that is what bounds it.
"""

from __future__ import annotations

import ssl
import time
from collections import deque
from typing import Any

import gevent
import gevent.socket
from gevent.event import Event

FULL = 256 * 1024
"""Bytes waiting from which on nothing more may be sent."""

NOT_NOW = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Outbox:
    """The sending half of a socket that never blocks.

    `backlog` is in bytes, `moved` the moment (`time.monotonic`) at which something that waited was
    last taken; `broken` says that the socket is dead, and nothing waits any more.
    """

    def __init__(self, sock: Any) -> None:
        self._sock = sock
        self._waiting: deque[memoryview | bytes] = deque()
        self._pong = b""
        self._flusher: Any = None
        self._room = Event()
        self.backlog = 0
        self.broken = False
        self.moved = time.monotonic()

    @property
    def full(self) -> bool:
        """Whether so much waits that nothing more should be sent."""
        return self.backlog > FULL

    def put(self, piece: bytes) -> None:
        """Send a frame's bytes, now or when the socket takes them."""
        if self.broken:
            return
        sent = 0 if self._waiting else self._try(piece)
        if sent < len(piece) and not self.broken:
            self._waiting.append(memoryview(piece)[sent:])
            self.backlog += len(piece) - sent
            if self._flusher is None:
                self._flusher = gevent.spawn(self._flush)

    def put_pong(self, piece: bytes) -> None:
        """Send a pong's bytes, before what waits and in place of a pong that waits."""
        if self._waiting:
            self._pong = piece
        else:
            self.put(piece)

    def drop_pong(self) -> None:
        """Nobody waits for a pong any more."""
        self._pong = b""

    def room(self, seconds: float) -> bool:
        """Wait until it is no longer `full`, or `wake`; False if it still is after so long."""
        if not self.full:
            return True
        self._room.clear()
        return self._room.wait(seconds)

    def wake(self) -> None:
        """End the wait of whoever waits for room."""
        self._room.set()

    def flush(self) -> None:
        """Wait until nothing waits."""
        while self.backlog:
            self._room.clear()
            self._room.wait()

    def drop(self) -> None:
        """Nothing can be sent any more."""
        self.broken = True
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
        """Send what waits, piece by piece: one that was tried must be tried again (TLS)."""
        try:
            while self._waiting:
                gevent.socket.wait(self._sock._write_event)
                while self._waiting and (sent := self._try(self._waiting[0])):
                    self._taken(sent)
        except OSError:
            self.drop()
        finally:
            self._flusher = None

    def _taken(self, sent: int) -> None:
        self.moved = time.monotonic()
        self.backlog -= sent
        piece = self._waiting.popleft()
        if sent < len(piece):
            self._waiting.appendleft(memoryview(piece)[sent:])
        elif self._pong:
            self._waiting.appendleft(self._pong)
            self.backlog += len(self._pong)
            self._pong = b""
        if self.backlog <= FULL // 2:
            self._room.set()
