"""The caller's connection under the gateway's own worker: HTTP/1.1 on a socket."""

from __future__ import annotations

import contextlib
import errno
import socket
from collections.abc import Callable
from typing import Any

from engine.exchange.caller_connection import HeavyCalls, InternalCaller, TrySend
from engine.process.loop_turn import await_turn
from engine.server.http1.request import HeadReader, RequestHead
from engine.server.http1.request_body import BodyReader, ChunkedBody, LengthBody
from engine.server.http1.response import CHUNK, Headers, ResponseWriter
from engine.server.sockets.caller_socket import CallerSocket, GeventSocket, linger
from engine.values.errors import GatewayError

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_MAX_DRAIN = 65_536
"""An unread body of at most so many bytes is read, so that the connection can be reused."""
_CHUNKS_PER_TURN = 64


def read_head(sock: CallerSocket, reader: HeadReader) -> RequestHead | None:
    """The head of the next request; None if the caller closes before it is complete. Raises
    InvalidRequest."""
    while data := sock.receive():
        if (parsed := reader.feed(data)) is not None:
            head, sock.buffered = parsed
            return head
    return None


class WorkerConnection:
    """The connection under one request, until its response is sent: a `CallerConnection`, and the
    worker's side of WSGI."""

    internal: InternalCaller | None = None
    can_take_over = True
    _ahead = b""  # of the body, decoded and not read yet
    _unsent = b""  # of a piece that `try_send` could not send completely

    def __init__(self, sock: CallerSocket, head: RequestHead, close: bool) -> None:
        length = head.content_length
        self._sock = sock
        self._body: BodyReader = ChunkedBody() if length is None else LengthBody(length)
        self._awaits_continue = head.expects_continue
        self._writer = ResponseWriter(head.method, head.minor_version, close or head.close)

    def buffered_body(self) -> bytes | None:
        body, sock = self._body, self._sock
        if (
            isinstance(body, LengthBody)
            and body.remaining <= len(sock.buffered)
            and not self._awaits_continue
        ):
            data = body.feed(sock.buffered)
            sock.buffered = body.excess
            return data
        return None

    def read(self, size: int, /) -> bytes:
        """100 Continue is sent before the first read: a request that is refused by its head alone
        never gets it (RFC 9110 10.1.1)."""
        body = self._body
        if self._awaits_continue:
            self._awaits_continue = False
            self._sock.send(_CONTINUE)
        pieces, length = [self._ahead], len(self._ahead)
        while length < size and not body.complete:
            piece = self._receive(body)
            if piece is None:
                break
            pieces.append(piece)
            length += len(piece)
        data = b"".join(pieces)
        self._ahead = data[size:]
        return data[:size]

    def _receive(self, body: BodyReader) -> bytes | None:
        """The next decoded bytes of the body; None if the caller closed before its Content-Length.
        Raises ConnectionResetError if the caller closed within a chunked body."""
        data = self._sock.receive()
        if not data:
            if isinstance(body, LengthBody):
                return None
            raise ConnectionResetError(errno.ECONNRESET, "the body broke off")
        chunks = body.chunks
        piece = body.feed(data)
        if body.complete:
            self._sock.buffered = body.excess
        if body.chunks - chunks > _CHUNKS_PER_TURN:
            await_turn()  # parsing them took a while: let other greenlets run
        return piece

    def drain(self) -> bool:
        """Read the rest of the body. Returns whether the connection can be reused."""
        body = self._body
        if self._writer.close:
            return False
        if body.complete:
            return True
        if self._awaits_continue or not isinstance(body, LengthBody) or body.remaining > _MAX_DRAIN:
            return False  # the body may never come (100-continue), or is too long to read
        self.read(body.remaining)
        return body.complete

    # The application's side

    @property
    def try_send(self) -> TrySend | None:
        return self._try_send if self._writer.chunked and self._sock.can_try else None

    def _try_send(self, data: bytes) -> bool:
        data = CHUNK % (len(data), data)
        count = self._sock.try_send(data)
        if count == len(data):
            return True
        self._unsent = data[count:]
        return False

    @property
    def heavy_calls(self) -> HeavyCalls | None:
        return self._sock.heavy_calls

    def take_over(self) -> tuple[GeventSocket, bytes]:
        data, self._sock.buffered = self._sock.buffered, b""
        self._sock.set_socket_timeout()
        return self._sock.sock, data

    def fileno(self) -> int:
        return int(self._sock.sock.fileno())

    def set_timeout(self, seconds: float | None) -> None:
        self._sock.timeout = seconds

    def close_after(self) -> bool:
        self._writer.close = True
        return True

    def linger(self, size: int) -> None:
        linger(self._sock.sock, size)

    # The server's side

    def start_response(
        self, status: str, headers: Headers, exc_info: tuple[Any, BaseException, Any] | None = None
    ) -> Callable[[bytes], None]:
        """WSGI's (PEP 3333). Raises ValueError for headers that cannot be sent."""
        if exc_info and self._writer.head_sent:
            raise exc_info[1]
        self._writer.start(status, headers)
        return self.send

    @property
    def head_sent(self) -> bool:
        return self._writer.head_sent

    def send(self, data: bytes) -> None:
        """Send a piece of the response body, after the head and the unsent bytes of `try_send`."""
        data = self._writer.write(data)
        if self._unsent:
            data, self._unsent = self._unsent + data, b""
        if data:
            self._sock.send(data)

    def end_response(self) -> None:
        """Send what ends the response."""
        if data := self._writer.end():
            self._sock.send(data)


class RefusedBody(WorkerConnection):
    """The connection under a request that is refused when its body would be read: behind all that
    its head decides. It carries no other request."""

    def __init__(
        self, sock: CallerSocket, head: RequestHead, close: bool, refusal: GatewayError
    ) -> None:
        super().__init__(sock, head, close)
        self._refusal = refusal

    def buffered_body(self) -> bytes | None:
        raise self._refusal

    def read(self, size: int, /) -> bytes:
        raise self._refusal

    def drain(self) -> bool:
        """End the connection: a descriptor that was passed may keep it open."""
        with contextlib.suppress(OSError):  # the caller has left
            self._sock.sock.shutdown(socket.SHUT_RDWR)
        return False
