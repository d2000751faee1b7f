"""One side of a WebSocket on its socket: receives its frames, and sends frames to it.

Pings and closes are answered as soon as they are read. Frames that the socket does not accept at
once wait in an `Outbox`.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import gevent
import gevent.socket
from gevent import get_hub
from gevent.lock import BoundedSemaphore, DummySemaphore
from gevent.monkey import get_original
from websockets.extensions import Extension
from websockets.frames import CLOSE, CTRL_OPCODES, PING, PONG, TEXT, Close, Frame, Opcode

from engine.exchange.member_protocols import Socket
from engine.process.loop_turn import await_turn
from engine.relay.websocket.frames import (
    FrameReader,
    FrameWriter,
    Violation,
    sendable,
    truncate,
)
from engine.relay.websocket.outbox import NOT_NOW, Outbox

PIECE = 64 * 1024
_READ = 1  # the event loop's flag for a descriptor that can be read
_LEFT = 0x2000 | 0x0008 | 0x0010  # POLLRDHUP, POLLERR, POLLHUP
_poll = get_original("select", "poll")
_FRAMES_PER_TURN = 256
_UNANSWERED_PINGS = 32  # of more, the oldest are dropped


class PeerDisconnected(Exception):
    """The other side disconnected without a close frame (1006, RFC 6455 7.1.5)."""


class Stopped(Exception):
    """`stop` was called while this greenlet waited for frames."""


class Channel:
    """One side. `client`: it is the client, and the gateway the server. `first`: bytes from it that
    were read before.

    `closed` is the close frame that it sent; `last_received` is the time (`time.monotonic`) of the
    last bytes from it; `in_message`: a message to it has begun and has not ended.
    """

    def __init__(
        self,
        sock: Socket,
        *,
        client: bool,
        limit: int,
        extensions: Sequence[Extension] = (),
        first: bytes = b"",
    ) -> None:
        sock.settimeout(0.0)
        self._sock = sock
        self._arrival = get_hub().loop.io(sock.fileno(), _READ)
        self._reader = FrameReader(masked=client, limit=limit, extensions=extensions)
        self._writer = FrameWriter(mask=not client, extensions=extensions)
        # What is compressed can be read in the order in which it was compressed alone.
        self._order = BoundedSemaphore() if extensions else DummySemaphore()
        self._first = first
        self._pings: deque[bytes] = deque(maxlen=_UNANSWERED_PINGS)
        self._stopped = False
        self._violated = False
        self._closing = False
        self.outbox = Outbox(sock)
        self.in_message = False
        self.closed: Close | None = None
        self.last_received = time.monotonic()

    @property
    def alive(self) -> float:
        """The time (`time.monotonic`) at which it last sent bytes or accepted some."""
        return max(self.last_received, self.outbox.moved)

    def frames(self) -> Iterator[Frame]:
        """Its frames, up to and including the close frame.

        Raises PeerDisconnected if it disconnects without one, Violation if it breaks the protocol,
        Stopped after `stop`.
        """
        data, self._first = self._first, b""
        try:
            while True:
                for number, frame in enumerate(self._reader.feed(data), 1):
                    self._answer(frame)
                    yield frame
                    if frame.opcode is CLOSE:
                        return
                    if number % _FRAMES_PER_TURN == 0:
                        await_turn()  # one read may hold thousands of small frames
                data = self._receive()
        except Violation:
            self._violated = True
            raise

    def _answer(self, frame: Frame) -> None:
        """Answer a ping or a close."""
        if frame.opcode is PING and not self._closing:
            self.outbox.put_pong(self._writer.encode(PONG, frame.data))
        elif frame.opcode is CLOSE:
            self.closed = Close.parse(frame.data)
            self._send_close(bytes(frame.data))

    def _receive(self) -> bytes:
        """The next bytes, at least one."""
        while True:
            if self._stopped:
                raise Stopped
            try:
                get_hub().wait(self._arrival)
                data = self._sock.recv(PIECE)
            except (Stopped, *NOT_NOW):
                continue  # `stop` may take effect in a later wait
            except OSError as error:
                self.outbox.drop()
                raise PeerDisconnected from error
            if not data:
                raise PeerDisconnected
            self.last_received = time.monotonic()
            return data

    def stop(self) -> None:
        """End the iteration over `frames`, with Stopped, and every wait of the outbox."""
        self._stopped = True
        self.outbox.wake()
        get_hub().cancel_wait(self._arrival, Stopped)

    def is_answer(self, pong: bytes) -> bool:
        """Whether a pong of this side answers a ping of the gateway."""
        if pong not in self._pings:
            return False
        while self._pings.popleft() != pong:
            pass  # RFC 6455 5.5.3: one pong may answer the pings before it, too
        return True

    def is_disconnected(self) -> bool:
        """Whether its connection has ended; bytes may still be unread."""
        poller = _poll()
        poller.register(self._sock.fileno(), _LEFT)
        return bool(poller.poll(0))

    def send(self, opcode: Opcode, data: Any, fin: bool = True) -> None:
        """Send a frame, now or when the socket accepts it. After a close frame nothing is sent."""
        if self._closing or self.outbox.broken:
            return
        if opcode not in CTRL_OPCODES:
            self.in_message = not fin
        with self._order:
            piece = self._writer.encode(opcode, data, fin)
            if not self._closing:  # as it may be after the turns of the loop for a long one
                self.outbox.put(piece)

    def send_text(self, *messages: bytes) -> None:
        """Send text messages at once, as `send` does."""
        if self._closing or self.outbox.broken:
            return
        encode = self._writer.encode
        with self._order:
            piece = b"".join([encode(TEXT, message) for message in messages])
            if not self._closing:  # as for `send`
                self.outbox.put(piece)

    def ping(self, data: bytes) -> None:
        """Send a ping; `is_answer` recognises its pong."""
        self._pings.append(data)
        self.send(PING, data)

    def close(self, close: Close) -> None:
        """Send a close frame, if none was sent."""
        close = sendable(close)
        self._send_close(Close(close.code, truncate(close.reason)).serialize())

    def _send_close(self, payload: bytes) -> None:
        if not self._closing:
            self._closing = True
            self.outbox.drop_pong()
            self.outbox.put(self._writer.encode(CLOSE, payload))

    def finish(self, seconds: float) -> None:
        """Complete the closing handshake: send the backlog, wait for its close frame and for the
        end of its bytes. Returns after `seconds` at the latest; the owner of the socket closes it.
        """
        self._stopped = False
        with gevent.Timeout(seconds, False):  # type: ignore[arg-type]
            self.outbox.flush()
            try:
                if self.closed is None and not self._violated:
                    for _ in self.frames():
                        pass
                self._sock.shutdown(gevent.socket.SHUT_WR)
                while True:
                    self._receive()  # closing with unread bytes would reset the connection
            except (PeerDisconnected, Violation, OSError):
                pass
        self.outbox.drop()
