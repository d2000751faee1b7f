"""Sends a response through Falcon, and ends its exchange."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from itertools import chain

import falcon

from engine.exchange.exchange import Exchange, Response
from engine.exchange.outcome import Outcome
from engine.exchange.push_stream import Pipeline, PushStream

log = logging.getLogger("modelway")


def send(resp: falcon.Response, exchange: Exchange, response: Response, *, linger: int = 0) -> None:
    """Pass a response to Falcon. `linger`: how many bytes of the request body the connection reads
    and discards after it was sent."""
    resp.status = response.status
    body, fields = response.body, dict(response.headers)
    gateway_fields = common_headers(exchange)
    if response.gateway_headers:
        gateway_fields |= response.gateway_headers
    length = -1
    if isinstance(body, bytes):
        length = exchange.record.bytes_out = len(body)
        gateway_fields["content-length"] = str(length)
    elif "content-length" in fields:
        length = int(fields["content-length"])
    if len(fields) < len(response.headers) or "set-cookie" in fields:
        fields = gateway_fields
        for name, value in response.headers:
            if name not in gateway_fields:
                resp.append_header(name, value)
    else:
        fields |= gateway_fields
    resp.set_headers(fields)
    resp.stream = sending = ResponseBody(body, exchange, length, linger=linger)
    if not has_body(exchange, response):
        sending.close()  # Falcon sends no body, and would never close it


def common_headers(exchange: Exchange) -> dict[str, str]:
    """The headers of every response: from upstreams, from the gateway, of refusals by the server,
    and of the upgrade to a WebSocket."""
    return dict.fromkeys(exchange.dialect.request_id_headers, exchange.request_id)


def has_body(exchange: Exchange, response: Response) -> bool:
    """Whether the response is sent with a body (RFC 9110 6.4.1)."""
    return exchange.method != "HEAD" and response.status not in (204, 304)


class ResponseBody:
    """The body of a response, of `length` bytes (-1: unknown), as WSGI iterates over it.

    The exchange ends before the last byte is sent, so that a complete response is in the ledger and
    its counters are settled even if this worker is killed then. `close` ends the exchange of an
    incomplete response and removes the timeout of the caller's connection, which may `linger`.
    """

    _closed = False

    def __init__(
        self,
        body: bytes | Iterable[bytes],
        exchange: Exchange,
        length: int,
        *,
        linger: int = 0,
    ) -> None:
        self._body = body
        self._exchange = exchange
        self._length = length
        self._linger = linger

    def __iter__(self) -> Iterator[bytes]:
        body = self._body
        if isinstance(body, bytes):
            self._exchange.end()
            return iter((body,))
        pieces = iter(body)
        if self._length >= 0:
            return self._with_known_length(pieces, self._length)
        if isinstance(body, PushStream):
            pieces = chain(self._first(pieces, body.pipeline), pieces)
        return chain(pieces, _end(self._exchange))

    def _first(self, body: Iterator[bytes], pipeline: Pipeline) -> Iterator[bytes]:
        """Yield the first piece. When the server asks for the next, it has sent the head."""
        for data in body:
            yield data
            break
        pipeline.try_send = self._exchange.connection.try_send

    def _with_known_length(self, body: Iterator[bytes], remaining: int) -> Iterator[bytes]:
        for data in body:
            remaining -= len(data)
            if remaining == 0:
                data += b"".join(body)  # no bytes; exhausts the iterator so that it cleans up
                self._exchange.end()
            yield data
        self._exchange.end()

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._exchange.on_end:
            self._exchange.end()
        connection = self._exchange.connection
        try:
            connection.set_timeout(None)
            if self._linger:
                connection.linger(self._linger)
        except Exception:
            log.exception("request %s: closing its response failed", self._exchange.request_id)

    def __del__(self) -> None:
        """End the exchange: a server that cannot send the head drops the body without `close`."""
        if self._closed:
            return
        record = self._exchange.record
        if self._exchange.on_end and record.outcome == Outcome.COMPLETE:
            record.end(500, Outcome.FAILED, "internal_error")
        self.close()


def _end(exchange: Exchange) -> Iterator[bytes]:
    """End the exchange; yields no bytes."""
    exchange.end()
    yield from ()
