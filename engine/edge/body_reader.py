"""Reads a request body: its framing, its size limit and its deadlines."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any, TypeVar

import gevent

from engine.exchange.caller_connection import CallerConnection, InvalidFraming
from engine.exchange.exchange import Exchange, Handler, Response
from engine.exchange.request_body import IN_MEMORY, Body, incomplete, too_large
from engine.exchange.request_record import RequestRecord
from engine.exchange.spooled_body import receive, spool
from engine.values.errors import AbortConnection, AbortReason, GatewayError

_SMALL = 65_536
"""The largest unread body in bytes that is read and discarded to reuse the connection."""
_MAX_BYTES_OF_STRANGERS = 1_000_000
"""Bytes of the body that are discarded after a refusal of an unknown caller."""
_PIECE = 65_536
_is_length = re.compile("[0-9]{1,18}").fullmatch

Read = TypeVar("Read")


def check_head(exchange: Exchange, following: Handler) -> Response:
    """A stage that refuses a head that two servers could read differently, with GatewayError 400.

    RFC 9112: Host is required (3.2); chunked is the only supported transfer coding (6.1).
    """
    environ = exchange.environ
    if "HTTP_HOST" not in environ and environ.get("SERVER_PROTOCOL") == "HTTP/1.1":
        raise GatewayError(400, "invalid_header", "The request has no Host header.")
    key = "HTTP_TRANSFER_ENCODING"
    if key in environ and environ[key].strip().lower() != "chunked":
        message = "Transfer-Encoding must be 'chunked', alone."
        raise GatewayError(400, "invalid_header", message)
    length = environ.get("CONTENT_LENGTH")
    if length and not _is_length(length):
        raise GatewayError(400, "invalid_header", "Content-Length is not a number.")
    return following(exchange)


class RequestBodyReader:
    """Reads the body of one request.

    `max_size` is that of the body in bytes, `timeout` the longest pause of the caller in seconds,
    set as the connection's timeout, `total` the longest time for the whole body in seconds. The
    time of reading is added to `record.wait_time`.
    """

    _complete = False
    _broken = False
    _stream: CallerStream | None = None
    is_sent_on = False
    """Whether its bytes are sent on as they arrive, so that an attempt counts the time of that."""

    def __init__(
        self,
        environ: Mapping[str, Any],
        connection: CallerConnection,
        max_size: int,
        timeout: float,
        record: RequestRecord,
        total: float = 300.0,
    ) -> None:
        self._environ = environ
        self._connection = connection
        self.max_size = max_size
        self._timeout = timeout
        self._total = total
        self._record = record

    def receive(self, max_size: int | None = None) -> Body:
        """See BodyReader."""
        limit = self.max_size if max_size is None else max_size
        if (data := self._connection.buffered_body()) is not None:  # nearly always
            self._complete = True
            if len(data) > limit:
                raise too_large(limit)
            return Body(data)
        length = self._length()
        if length == 0:
            self._complete = True
            return Body()
        if length is not None and length > limit:
            raise too_large(limit)
        body = self.waiting(lambda: receive(self._connection, length, limit), self._total)
        self._complete = True
        return body

    def stream(self, head: int) -> CallerStream | None:
        """See BodyReader."""
        length = self._length()
        if length is None or length <= max(head, IN_MEMORY):
            return None
        if length > self.max_size:
            raise too_large(self.max_size)
        self._stream = CallerStream(self, self._connection, length, self._total)
        self._stream.read_head(head)
        return self._stream

    def waiting(self, read: Callable[[], Read], seconds: float) -> Read:
        """What `read` returns, within so many seconds. Raises GatewayError 400 and 408, and what
        `read` raises, after which the rest of the body can still be read."""
        self._broken = True
        start = time.monotonic()
        deadline = gevent.Timeout(seconds)
        try:
            with deadline:
                value = read()
        except gevent.Timeout as timeout:
            if timeout is not deadline:
                raise
            message = f"The request body took more than {self._total:g} seconds to arrive."
            raise GatewayError(408, "request_timeout", message) from timeout
        except TimeoutError as error:
            message = f"The request body paused for more than {self._timeout:g} seconds."
            raise GatewayError(408, "request_timeout", message) from error
        except InvalidFraming as error:
            message = "The framing of the request body is invalid (RFC 9112)."
            raise GatewayError(400, "invalid_body", message) from error
        except GatewayError:
            self._broken = False
            raise
        except OSError as error:
            raise AbortConnection(
                AbortReason.CALLER_LEFT, "the caller left while sending the body"
            ) from error
        finally:
            if not self.is_sent_on:
                self._record.wait_time += time.monotonic() - start
        self._broken = False
        return value

    def is_left(self) -> bool:
        """Whether so much of the body is unread that the connection cannot be reused."""
        if self._complete or self._broken:
            return self._broken
        if self._stream is not None:
            return self._stream.remaining > 0
        length = self._length()
        # A caller that waits for 100 Continue may next send the body, or another request.
        bound = 0 if "HTTP_EXPECT" in self._environ else _SMALL
        return length is None or length > bound

    def rest(self, exchange: Exchange) -> int:
        """How many bytes of an unread body are worth reading, so that the caller gets the response:
        of a known caller's the whole body, if it is not too large."""
        length, limit = self._length(), self.max_size
        if exchange.caller is None or self._broken or (length or 0) > limit:
            return _MAX_BYTES_OF_STRANGERS
        return limit if length is None else length

    def break_off(self) -> None:
        """Nothing can be read any more."""
        self._broken = True

    def _length(self) -> int | None:
        """The Content-Length; None for a chunked body."""
        if "HTTP_TRANSFER_ENCODING" in self._environ:
            return None
        length = self._environ.get("CONTENT_LENGTH") or "0"
        return int(length) if _is_length(length) else None


class CallerStream:
    """A body of `size` bytes that arrives, see BodyStream; `remaining` are still to be received."""

    head = b""

    def __init__(
        self, reader: RequestBodyReader, connection: CallerConnection, size: int, seconds: float
    ) -> None:
        self._reader, self._connection = reader, connection
        self._end = time.monotonic() + seconds
        self.size = self.remaining = size

    def read_head(self, size: int) -> None:
        """Read the head."""
        self.head = self._read(size)

    def chunks(self) -> Iterator[bytes]:
        """The bytes behind the head, for an upstream that gets them at once."""
        self._reader.is_sent_on = True
        return self._rest()

    def receive(self) -> Body:
        """The whole body, on disk."""
        return spool(chain((self.head,), self._rest()))

    def _rest(self) -> Iterator[bytes]:
        while self.remaining:
            yield self._read(min(_PIECE, self.remaining))

    def _read(self, size: int) -> bytes:
        """Exactly `size` bytes. Raises GatewayError 400 if the body ends before."""
        seconds = max(0.001, self._end - time.monotonic())
        data = self._reader.waiting(lambda: self._connection.read(size), seconds)
        self.remaining -= len(data)
        if len(data) < size:
            self._reader.break_off()
            raise incomplete(self.size - self.remaining, self.size)
        return data
