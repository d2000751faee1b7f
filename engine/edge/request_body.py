"""Reads a request body: its framing, its size limit and its deadlines."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any

import gevent

from engine.exchange.body import Body, receive, too_large
from engine.exchange.caller_connection import CallerConnection, InvalidFraming
from engine.exchange.exchange import Exchange, Handler, Response
from engine.exchange.record import RequestRecord
from engine.values.errors import AbortConnection, AbortReason, GatewayError

_SMALL = 65_536
"""Bytes of an unread body that are worth reading, so that the connection can be used again."""
_is_length = re.compile("[0-9]{1,18}").fullmatch


def check_head(exchange: Exchange, following: Handler) -> Response:
    """A stage that refuses a head which two servers could read differently, with GatewayError 400.

    RFC 9112: Host is required (3.2), and chunked is the only transfer coding there is (6.1).
    """
    environ = exchange.environ
    if "HTTP_HOST" not in environ and environ.get("SERVER_PROTOCOL") == "HTTP/1.1":
        raise GatewayError(400, "invalid_header", "The request has no Host header.")
    coding = environ.get("HTTP_TRANSFER_ENCODING")
    if coding is not None and coding.strip().lower() != "chunked":
        message = "Transfer-Encoding must be 'chunked', alone."
        raise GatewayError(400, "invalid_header", message)
    length = environ.get("CONTENT_LENGTH")
    if length and not _is_length(length):
        raise GatewayError(400, "invalid_header", "Content-Length is not a number.")
    return following(exchange)


class RequestBodyReader:
    """Reads the body of one request.

    `timeout`: seconds for which the caller may pause, which is the connection's timeout. `total`:
    seconds until all of the body has to be there. The time that it takes is added to
    `record.wait_time`.
    """

    _complete = False
    _broken = False

    def __init__(
        self,
        environ: Mapping[str, Any],
        connection: CallerConnection,
        timeout: float,
        record: RequestRecord | None = None,
        total: float = 300.0,
    ) -> None:
        self._environ = environ
        self._connection = connection
        self._timeout = timeout
        self._total = total
        self._record = record if record is not None else RequestRecord()

    def receive(self, limit: int) -> Body:
        """Read the body. Raises GatewayError 400, 408 or 413, or AbortConnection."""
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
        self._broken = True
        start = time.monotonic()
        try:
            body = self._read(length, limit)
        except TimeoutError as error:
            message = f"The request body paused for more than {self._timeout:g} seconds."
            raise GatewayError(408, "request_timeout", message) from error
        except InvalidFraming as error:
            message = "The request body is not framed as its headers say."
            raise GatewayError(400, "invalid_body", message) from error
        except OSError as error:
            raise AbortConnection(
                AbortReason.CALLER_LEFT, "the caller left while sending the body"
            ) from error
        finally:
            self._record.wait_time += time.monotonic() - start
        self._broken, self._complete = False, True
        return body

    def _read(self, length: int | None, limit: int) -> Body:
        """Read the body. Raises GatewayError 408 if it takes too long at whatever pace."""
        deadline = gevent.Timeout(self._total)
        try:
            with deadline:
                return receive(self._connection, length, limit)
        except gevent.Timeout as late:
            if late is not deadline:
                raise
            message = f"The request body took more than {self._total:g} seconds to arrive."
            raise GatewayError(408, "request_timeout", message) from late

    def is_left(self) -> bool:
        """Whether too much of the body was not read for the connection to carry another request."""
        if self._complete or self._broken:
            return self._broken
        length = self._length()
        # A caller who waits for 100 Continue may send the body or the next request now.
        bound = 0 if "HTTP_EXPECT" in self._environ else _SMALL
        return length is None or length > bound

    def _length(self) -> int | None:
        """The announced length; None for a chunked body."""
        if "HTTP_TRANSFER_ENCODING" in self._environ:
            return None
        length = self._environ.get("CONTENT_LENGTH") or "0"
        return int(length) if _is_length(length) else None
