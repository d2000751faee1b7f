"""One side of a WebSocket on its socket: its frames come in, frames for it go out.

The law of the two halves. Reading: a ping is answered as soon as it is read, a close as well.
Writing: what the socket does not take at once waits in order, and a greenlet that exists only as
long sends it on; of the pongs that wait only the latest is kept (RFC 6455 5.5.3). Whoever sends
looks at `backlog`, and makes a pause while it is `full`: that is what bounds it.
"""

from __future__ import annotations

import ssl
import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import gevent
import gevent.socket
from gevent.event import Event
from gevent.monkey import get_original
from websockets.extensions import Extension
from websockets.frames import CLOSE, CTRL_OPCODES, PING, PONG, Close, Frame, Opcode

from engine.relay.websocket.frames import (
    FrameReader,
    FrameWriter,
    Violation,
    sendable,
    shortened,
)

FULL = 256 * 1024
"""Bytes waiting for a side from which on nothing more may be sent to it."""

PIECE = 64 * 1024
_NOT_NOW = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
_WR = 1  # socket.SHUT_WR
_LEFT = 0x2000 | 0x0008 | 0x0010  # POLLRDHUP, POLLERR, POLLHUP
_poll = get_original("select", "poll")
_IN_A_TURN = 256
_PINGS = 32  # passed on and not answered yet; of more, the oldest are forgotten


class Stream(Protocol):
    """What is asked of a gevent socket, plain or TLS."""

    def send(self, data: memoryview | bytes, /) -> int: ...
    def recv(self, size: int, /) -> bytes: ...
    def settimeout(self, seconds: float | None, /) -> None: ...
    def shutdown(self, how: int, /) -> None: ...
    def fileno(self) -> int: ...
    def close(self) -> None: ...


class Gone(Exception):
    """The other side left without a close frame: RFC 6455 7.1.5 calls that 1006."""


class Stopped(Exception):
    """Somebody said `stop` while this greenlet waited for frames."""


class Channel:
    """One side. `client`: it is the client, and we the server. `first`: bytes already read of it.

    `heard` and `moved` are moments of `time.monotonic`: the last bytes from it, the last bytes it
    took off what waited. `closed` is the close it sent, `broken` says that its socket is dead,
    `amid` that it has been sent the beginning of a message and not its end.
    """

    def __init__(
        self,
        sock: Stream,
        *,
        client: bool,
        limit: int,
        extensions: Sequence[Extension] = (),
        first: bytes = b"",
    ) -> None:
        sock.settimeout(0.0)
        self._sock: Any = sock
        self._reader = FrameReader(masked=client, limit=limit, extensions=extensions)
        self._writer = FrameWriter(mask=not client, extensions=extensions)
        self._first = first
        self._waiting: deque[memoryview | bytes] = deque()
        self._pong: bytes = b""
        self._pings: deque[bytes] = deque(maxlen=_PINGS)
        self._flusher: Any = None
        self._room = Event()
        self._stopped = False
        self._closing = False
        self.backlog = 0
        self.broken = False
        self.violated = False
        self.amid = False
        self.closed: Close | None = None
        self.heard = self.moved = time.monotonic()

    # In.

    def frames(self) -> Iterator[Frame]:
        """Its frames, to the close frame and including it.

        Raises Gone when it leaves without one, Violation for what it must not send, Stopped.
        """
        data, self._first = self._first, b""
        try:
            while True:
                for number, frame in enumerate(self._reader.feed(data), 1):
                    self._note(frame)
                    yield frame
                    if frame.opcode is CLOSE:
                        return
                    if number % _IN_A_TURN == 0:
                        gevent.sleep(0)  # thousands of tiny ones fit into one read
                data = self._receive()
        except Violation:
            self.violated = True
            raise

    def _note(self, frame: Frame) -> None:
        if frame.opcode is PING:
            self._answer(bytes(frame.data))
        elif frame.opcode is CLOSE:
            self.closed = Close.parse(frame.data)
            self._pong = b""
            self._say_close(bytes(frame.data))

    def _receive(self) -> bytes:
        """What arrives next, not empty."""
        while True:
            if self._stopped:
                raise Stopped
            try:
                gevent.socket.wait(self._sock._read_event)
                data: bytes = self._sock.recv(PIECE)
            except (Stopped, *_NOT_NOW):
                continue  # a Stopped of before may come late, when frames are waited for anew
            except OSError as error:
                self._lost()
                raise Gone from error
            if not data:
                raise Gone
            self.heard = time.monotonic()
            return data

    def stop(self) -> None:
        """End the wait of whoever iterates over `frames`, with Stopped, and all pauses."""
        self._stopped = True
        self._room.set()
        gevent.get_hub().cancel_wait(self._sock._read_event, Stopped)

    def answers(self, pong: bytes) -> bool:
        """Whether a pong of this side answers a ping that we sent it, and nobody else."""
        if pong not in self._pings:
            return False
        while self._pings.popleft() != pong:
            pass  # RFC 6455 5.5.3: one pong may stand for the pings before it as well
        return True

    # Out.

    @property
    def full(self) -> bool:
        """Whether so much waits for it that nothing more should be sent."""
        return self.backlog > FULL

    def send(self, opcode: Opcode, data: Any, fin: bool = True) -> None:
        """Send a frame, now or when the socket takes it; nothing after a close frame."""
        if not (self._closing or self.broken):
            if opcode not in CTRL_OPCODES:
                self.amid = not fin
            self._put(self._writer.encode(opcode, data, fin))

    def ping(self, data: bytes) -> None:
        """Send a ping; `answers` will know its pong."""
        self._pings.append(data)
        self.send(PING, data)

    def close(self, close: Close) -> None:
        """Send a close frame, unless one was sent."""
        close = sendable(close)
        self._say_close(Close(close.code, shortened(close.reason)).serialize())

    def room(self, seconds: float) -> bool:
        """Wait until it is no longer `full`; False if it still is after so long."""
        if not self.full or self.broken:
            return True
        self._room.clear()
        self._room.wait(seconds)
        return not self.full or self.broken or self._stopped

    def left(self) -> bool:
        """Whether its connection has ended, for one who does not read what comes before that."""
        return _hung_up(self._sock.fileno())

    def finish(self, seconds: float) -> None:
        """See a close through: what waits is sent, its close frame and its end are waited for.

        At the latest after so many seconds the socket is left to be closed, by its owner.
        """
        self._stopped = False
        with gevent.Timeout(seconds, False):  # type: ignore[arg-type]
            while self.backlog and not self.broken:
                self._room.clear()
                self._room.wait()
            try:
                if self.closed is None and not self.violated:
                    for _ in self.frames():
                        pass
                self._sock.shutdown(_WR)
                while True:
                    self._receive()  # closing with unread bytes would destroy our close frame
            except (Gone, Violation, OSError):
                pass
        self._lost()

    def _say_close(self, payload: bytes) -> None:
        if not (self._closing or self.broken):
            self._closing = True
            self._put(self._writer.encode(CLOSE, payload))

    def _answer(self, data: bytes) -> None:
        if self._closing or self.broken:
            return
        pong = self._writer.encode(PONG, data)
        if self._waiting:
            self._pong = pong
        else:
            self._put(pong)

    def _put(self, piece: bytes) -> None:
        sent = 0 if self._waiting else self._try(piece)
        if sent < len(piece) and not self.broken:
            self._waiting.append(memoryview(piece)[sent:])
            self.backlog += len(piece) - sent
            if self._flusher is None:
                self._flusher = gevent.spawn(self._flush)

    def _try(self, piece: memoryview | bytes) -> int:
        try:
            return int(self._sock.send(piece))
        except _NOT_NOW:
            return 0
        except OSError:
            self._lost()
            return 0

    def _flush(self) -> None:
        """Send what waits, piece by piece: one that was tried must be tried again (TLS)."""
        try:
            while self._waiting:
                gevent.socket.wait(self._sock._write_event)
                while self._waiting and (sent := self._try(self._waiting[0])):
                    self._taken(sent)
        except OSError:
            self._lost()
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
        if not self.backlog or self.backlog <= FULL // 2:
            self._room.set()

    def _lost(self) -> None:
        """Nothing can be sent any more."""
        self.broken = True
        self._waiting.clear()
        self.backlog = 0
        self._room.set()


def _hung_up(descriptor: int) -> bool:
    poller = _poll()
    poller.register(descriptor, _LEFT)
    return bool(poller.poll(0))
