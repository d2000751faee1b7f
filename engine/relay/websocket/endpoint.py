"""A WebSocket endpoint that sends and receives messages instead of frames, and whether its peer is
alive: a silent one gets a ping, and has to answer.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from websockets.frames import BINARY, CLOSE, CONT, CTRL_OPCODES, PING, PONG, TEXT, Close, Frame

from engine.exchange.caller_connection import CallerConnection
from engine.exchange.token_bucket import TokenBucket
from engine.relay.websocket.channel import Channel, PeerDisconnected
from engine.relay.websocket.frames import Violation
from engine.relay.websocket.handshake import negotiate_deflate, parse_request, switching_protocols
from engine.values.errors import AbortConnection, AbortReason

_CLOSE_TIMEOUT = 2.0
_SEND_TIMEOUT = 60.0


class Message(NamedTuple):
    """A complete message. The data of a `text` message is valid UTF-8."""

    text: bool
    data: bytes


class Closed(Exception):
    """The session is over. The code and reason are those of the peer's close frame (1006 if it
    disconnected), or of the close frame sent to it for a violation (`is_violation`)."""

    def __init__(self, code: int, reason: str, *, is_violation: bool = False) -> None:
        super().__init__(f"{code} {reason}")
        self.is_violation = is_violation
        self.code = code
        self.reason = reason


class Endpoint:
    """One side of a WebSocket, message by message. A peer that sends more than `max_pings` pings
    and unsolicited pongs a minute breaks the protocol."""

    def __init__(self, channel: Channel, max_pings: int | None = None) -> None:
        self._channel = channel
        self._max_pings = max_pings
        self._pings = TokenBucket((max_pings or 0) / 60, max_pings or 0, time.monotonic())
        self._frames = self._frames_of(channel)

    def receive(self) -> Message:
        """Wait for the next message, and answer pings meanwhile. Raises Closed."""
        fragments = bytearray()  # a list would grow with fragments of no bytes, without end
        text = False
        for frame in self._frames:
            if frame.opcode is CLOSE:
                break
            if frame.opcode in CTRL_OPCODES:
                continue
            if frame.opcode is not CONT:
                text = frame.opcode is TEXT
                if frame.fin:
                    return Message(text, bytes(frame.data))
            fragments += frame.data
            if frame.fin:
                return Message(text, bytes(fragments))
        close = self._channel.closed or Close(1006, "")
        raise Closed(close.code, close.reason)

    def _frames_of(self, channel: Channel) -> Iterator[Frame]:
        try:
            for frame in channel.frames():
                if self._max_pings is not None and frame.opcode in (PING, PONG):
                    self._count_ping(frame, self._max_pings)
                yield frame
        except PeerDisconnected as error:
            raise Closed(1006, "") from error
        except Violation as error:
            channel.close(Close(error.code, error.reason))
            raise Closed(error.code, error.reason, is_violation=True) from error

    def _count_ping(self, frame: Frame, max_pings: int) -> None:
        if frame.opcode is PONG and self._channel.is_answer(bytes(frame.data)):
            return
        if self._pings.take(self._channel.last_received):
            raise Violation(1008, f"more than {max_pings} pings and pongs a minute")

    def send_text(self, text: str | bytes) -> None:
        """Send a text message; waits up to a minute while the send buffer is full. Raises
        Closed."""
        self._send(TEXT, text.encode() if isinstance(text, str) else text)

    def send_binary(self, data: bytes) -> None:
        """Send a binary message, as `send_text` does."""
        self._send(BINARY, data)

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Send a close frame, and wait up to two seconds for the peer's."""
        self._channel.close(Close(code, reason))
        self._channel.finish(_CLOSE_TIMEOUT)

    def _send(self, opcode: Any, data: bytes) -> None:
        channel = self._channel
        if channel.closed is not None or channel.outbox.broken:
            close = channel.closed or Close(1006, "")
            raise Closed(close.code, close.reason)
        channel.send(opcode, data)
        if not channel.outbox.room(_SEND_TIMEOUT):
            raise Closed(1006, "")


def accept(
    environ: Mapping[str, Any],
    connection: CallerConnection,
    *,
    protocol: str = "",
    headers: Iterable[tuple[str, str]] = (),
    limit: int = 16_000_000,
    compression: bool = False,
) -> Endpoint:
    """Upgrade a request to a WebSocket, and return the server's side of it.

    Raises GatewayError 400 or 426 for a request that does not ask for one (`parse_request`), and
    AbortConnection. The caller must end by raising AbortConnection, so that no HTTP response
    follows on the connection.
    """
    request = parse_request(environ)
    extensions_header, extensions = negotiate_deflate(request.extensions, compression)
    sock, early = connection.take_over()
    try:
        sock.sendall(switching_protocols(request.key, protocol, extensions_header, headers))
    except OSError as error:
        raise AbortConnection(
            AbortReason.CALLER_LEFT, "the caller left before the upgrade"
        ) from error
    channel = Channel(sock, client=True, limit=limit, extensions=extensions, first=early)
    return Endpoint(channel)


class Liveness:
    """Pings a channel that is silent for `interval` seconds."""

    def __init__(self, channel: Channel, interval: float) -> None:
        self._channel, self._interval = channel, interval
        self._ping: float | None = None  # when the last unanswered one was sent

    def is_lost(self, now: float, *, paused: bool = False) -> bool:
        """Send a ping if it is due. Returns whether the last one was not answered in time; never
        while reading is `paused`. `now` is on the monotonic clock."""
        alive = self._channel.alive
        if paused or (self._ping is not None and alive > self._ping):
            self._ping = None
        elif self._ping is not None:
            return now - self._ping >= self._interval
        elif now - alive >= self._interval:
            self._ping = now
            self._channel.ping(b"")
        return False
