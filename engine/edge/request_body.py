"""A request as it comes in over the wire: its framing, its body, the connection under it."""

from __future__ import annotations

import socket
import time
from typing import Any

import gevent
from gunicorn.http.errors import (
    ChunkMissingTerminator,
    InvalidChunkExtension,
    InvalidChunkSize,
    ParseException,
)

from engine.exchange.body import Body, receive, too_large
from engine.exchange.record import RequestRecord
from engine.values.errors import AbortConnection, AbortReason, GatewayError

START_RESPONSE = "modelway.start_response"
"""Where the application keeps WSGI's `start_response`, whose owner can close the connection."""

_BADLY_FRAMED = (
    ParseException,
    InvalidChunkSize,
    InvalidChunkExtension,
    ChunkMissingTerminator,
)
_SMALL = 65_536
_LINGER_SECONDS = 1.0
_LINGER_BYTES = 1_000_000


class RequestBodyReader:
    """One request's body on its way in. `timeout`: seconds that the caller may pause, `total`:
    seconds until all of it has to be there; the time that it takes is put down in `record`."""

    def __init__(
        self,
        environ: dict[str, Any],
        timeout: float,
        record: RequestRecord | None = None,
        total: float = 300.0,
    ) -> None:
        self._environ = environ
        self._timeout = timeout
        self._total = total
        self._record = record if record is not None else RequestRecord()
        self._done = False
        self._broken = False

    def check(self) -> None:
        """Raises GatewayError 400 for a head that two servers could read differently.

        RFC 9112: Host is required (3.2), and chunked is the only transfer coding there is (6.1).
        """
        environ = self._environ
        if "HTTP_HOST" not in environ and environ.get("SERVER_PROTOCOL") == "HTTP/1.1":
            raise GatewayError(400, "invalid_header", "The request has no Host header.")
        coding = environ.get("HTTP_TRANSFER_ENCODING")
        if coding is not None and coding.strip().lower() != "chunked":
            message = "Transfer-Encoding must be 'chunked', alone."
            raise GatewayError(400, "invalid_header", message)
        length = environ.get("CONTENT_LENGTH")
        if length and not _is_length(length):
            raise GatewayError(400, "invalid_header", "Content-Length is not a number.")

    def receive(self, limit: int) -> Body:
        """Read the body. Raises GatewayError 400, 408 or 413, or AbortConnection."""
        length = self._length()
        if length == 0:
            self._done = True
            return Body()
        if length is not None and length > limit:
            raise too_large(limit)
        self._broken = True
        self.limit()
        begun = time.monotonic()
        try:
            body = self._read(length, limit)
        except TimeoutError as error:
            message = f"The request body paused for more than {self._timeout:g} seconds."
            raise GatewayError(408, "request_timeout", message) from error
        except _BADLY_FRAMED as error:
            message = "The request body is not framed as its headers say."
            raise GatewayError(400, "invalid_body", message) from error
        except OSError as error:
            raise AbortConnection(
                AbortReason.CALLER_LEFT, "the caller left while sending the body"
            ) from error
        finally:
            self._record.wait_time += time.monotonic() - begun
        self._broken, self._done = False, True
        return body

    def _read(self, length: int | None, limit: int) -> Body:
        """Read the body. Raises GatewayError 408 if it takes too long at whatever pace."""
        stream = self._environ["wsgi.input"]
        if getattr(stream, "arrived", False):  # there is nothing to wait for
            return receive(stream, length, limit)
        deadline = gevent.Timeout(self._total)
        try:
            with deadline:
                return receive(stream, length, limit)
        except gevent.Timeout as late:
            if late is not deadline:
                raise
            message = f"The request body took more than {self._total:g} seconds to arrive."
            raise GatewayError(408, "request_timeout", message) from late

    def is_left(self) -> bool:
        """Whether more of the body is still to come than is worth reading for a next request."""
        if self._done or self._broken:
            return self._broken
        length = self._length()
        # A caller who waits for 100 Continue may send the body or the next request now.
        bound = 0 if "HTTP_EXPECT" in self._environ else _SMALL
        return length is None or length > bound

    def close_after(self) -> bool:
        """Tell the server to close the connection after the answer; False if it cannot be told."""
        server = getattr(self._environ.get(START_RESPONSE), "__self__", None)
        close = getattr(server, "force_close", None)
        if close is None:
            return False
        close()
        return True

    def limit(self) -> None:
        """From here on a caller who sends or takes nothing for the timeout is cut off."""
        sock = self._environ.get("gunicorn.socket")
        if sock is not None:
            sock.settimeout(self._timeout)

    def unlimit(self) -> None:
        """The answer is out."""
        sock = self._environ.get("gunicorn.socket")
        if sock is not None:
            sock.settimeout(None)

    def linger(self) -> None:
        """Read on for a moment after the answer, so that closing does not destroy it.

        A socket closed with unread bytes resets the connection (RFC 9112 9.6), and the caller
        may lose the answer that is still on its way.
        """
        sock = self._environ.get("gunicorn.socket")
        if sock is None:
            return
        end = time.monotonic() + _LINGER_SECONDS
        try:
            sock.shutdown(socket.SHUT_WR)
            left = _LINGER_BYTES
            while left > 0 and (seconds := end - time.monotonic()) > 0:
                sock.settimeout(seconds)
                if not (data := sock.recv(_SMALL)):
                    break
                left -= len(data)
        except OSError:
            return  # gone or silent: either way there is nobody left to be kind to

    def _length(self) -> int | None:
        """The announced length; None for a chunked body."""
        if "HTTP_TRANSFER_ENCODING" in self._environ:
            return None
        length = self._environ.get("CONTENT_LENGTH") or "0"
        return int(length) if _is_length(length) else None


def _is_length(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19
