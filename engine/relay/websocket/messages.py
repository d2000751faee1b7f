"""One side of a WebSocket as an endpoint: messages instead of frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from websockets.frames import BINARY, CLOSE, CONT, CTRL_OPCODES, TEXT, Close, Frame

from engine.exchange.caller_connection import CallerConnection
from engine.relay.websocket.channel import Channel, PeerDisconnected
from engine.relay.websocket.frames import Violation
from engine.relay.websocket.handshake import deflating, parse_request, switching
from engine.values.errors import AbortConnection, AbortReason

_LINGER = 2.0
_PATIENCE = 60.0


class Message(NamedTuple):
    """A whole message; text is UTF-8, and has been checked to be."""

    text: bool
    data: bytes


class Closed(Exception):
    """The session is over: with the close of the other side (1006 if it disconnected), or the one
    sent to it for a violation."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"{code} {reason}")
        self.code = code
        self.reason = reason


class Messages:
    """The server's side of a WebSocket, message by message."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._frames = self._frames_of(channel)

    def receive(self) -> Message:
        """The next message, waiting for it. Raises Closed; pings are answered meanwhile."""
        parts: list[bytes] = []
        text = False
        for frame in self._frames:
            if frame.opcode is CLOSE:
                break
            if frame.opcode in CTRL_OPCODES:
                continue
            if frame.opcode is not CONT:
                text = frame.opcode is TEXT
            parts.append(bytes(frame.data))
            if frame.fin:
                return Message(text, b"".join(parts))
        close = self._channel.closed or Close(1006, "")
        raise Closed(close.code, close.reason)

    def _frames_of(self, channel: Channel) -> Iterator[Frame]:
        try:
            yield from channel.frames()
        except PeerDisconnected as error:
            raise Closed(1006, "") from error
        except Violation as error:
            channel.close(Close(error.code, error.words))
            raise Closed(error.code, error.words) from error

    def send_text(self, text: str | bytes) -> None:
        """Send a text message, waiting while the other side takes nothing. Raises Closed."""
        self._send(TEXT, text.encode() if isinstance(text, str) else text)

    def send_binary(self, data: bytes) -> None:
        """Send a binary message, likewise."""
        self._send(BINARY, data)

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Say goodbye and wait, for two seconds at most, until the other side has."""
        self._channel.close(Close(code, reason))
        self._channel.finish(_LINGER)

    def _send(self, opcode: Any, data: bytes) -> None:
        channel = self._channel
        if channel.closed is not None or channel.outbox.broken:
            close = channel.closed or Close(1006, "")
            raise Closed(close.code, close.reason)
        channel.send(opcode, data)
        if not channel.outbox.room(_PATIENCE):
            raise Closed(1006, "")


def accept(
    environ: Mapping[str, Any],
    connection: CallerConnection,
    *,
    protocol: str = "",
    headers: Iterable[tuple[str, str]] = (),
    limit: int = 16_000_000,
    compression: bool = False,
) -> Messages:
    """Upgrade a request to a WebSocket, and return the server's side of it.

    Raises GatewayError 400 or 426 for a request that does not ask for one (`parse_request`), and
    AbortConnection. What runs afterwards must end by raising AbortConnection, so that no HTTP
    response follows on the connection.
    """
    request = parse_request(environ)
    agreed, extensions = deflating(request.extensions, compression)
    sock, early = connection.take_over()
    try:
        sock.sendall(switching(request.key, protocol, agreed, headers))
    except OSError as error:
        raise AbortConnection(
            AbortReason.CALLER_LEFT, "the caller left before the upgrade"
        ) from error
    channel = Channel(sock, client=True, limit=limit, extensions=extensions, first=early)
    return Messages(channel)
