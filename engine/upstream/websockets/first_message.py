"""The stage of a WebSocket whose first message says what the session is for, as Gemini's Live API
has it: the model stands there, and not in the address.

The caller's handshake is read before anything else, and accepted as soon as its token is known.
Then the first message is the body of the request, for all stages that follow: they read, check,
limit and edit it, and find the model by it. An upstream gets it, with its own name for the model,
when it has accepted the session. A refusal after the handshake is a close frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial

import gevent
import orjson
from gevent import GreenletExit
from msgspec import Struct

from engine.dialects import Dialect
from engine.edge.send_response import common_headers
from engine.exchange.exchange import Exchange, Handler, Response, Stage
from engine.exchange.member_protocols import Headers
from engine.exchange.outcome import Outcome, interruption
from engine.exchange.request_body import Body, ReceivedBody
from engine.exchange.request_record import Traffic
from engine.relay.websocket.channel import Channel
from engine.relay.websocket.endpoint import Closed, Endpoint
from engine.relay.websocket.handshake import (
    Extensions,
    UpgradeRequest,
    negotiate_deflate,
    parse_request,
    require_take_over,
    send_head,
    switching_protocols,
)
from engine.relay.websocket.open_sessions import SessionLimits
from engine.upstream.websockets.websocket_upgrade import Upgrade
from engine.values.errors import AbortConnection, AbortReason, GatewayError

_MAX_ERROR = 65_536

_CODES: Mapping[int, int] = {400: 1007, 413: 1009, 429: 1013, 503: 1013}
"""The close codes of refusals by their status (RFC 6455 7.4.1 and the registry of IANA)."""


def receive_first(dialect: Dialect, limits: SessionLimits, max_size: int, seconds: float) -> Stage:
    """A stage that accepts the WebSocket and makes its first message the body of the request: at
    most `max_size` bytes, within `seconds`. Raises GatewayError before the handshake is accepted,
    AbortConnection afterwards."""

    def stage(exchange: Exchange, following: Handler) -> Response:
        if not exchange.connection.can_take_over and exchange.connection.internal is not None:
            return _with_body(exchange, following)  # `explain` and `test`: it is the body already
        upgrade = exchange.upgrade = _accept(exchange, dialect, limits)
        channel = upgrade.caller
        assert channel is not None
        endpoint = Endpoint(channel, limits.max_pings)
        refuse = partial(_refuse, endpoint, exchange, dialect)
        try:
            data = _first_message(endpoint, max_size, seconds)
            exchange.body_reader = ReceivedBody(Body(data), max_size)
            response = _with_body(exchange, following)
            refuse(_error_of(response))
        except GatewayError as error:
            refuse(error)
        except GreenletExit as cause:
            if exchange.record.traffic is not None:  # its session has ended
                raise
            ended = interruption(cause)
            refuse(ended.error, ended.outcome)
        raise AbortConnection(AbortReason.SESSION_ENDED)

    return stage


def _with_body(exchange: Exchange, following: Handler) -> Response:
    """The response to a request whose body is JSON, whatever its head says."""
    exchange.environ = {**exchange.environ, "CONTENT_TYPE": "application/json"}
    return following(exchange)


def _accept(exchange: Exchange, dialect: Dialect, limits: SessionLimits) -> Upgrade:
    """Accept the caller's handshake. Raises GatewayError, and AbortConnection if it left."""
    handshake = read_handshake(exchange, limits)
    upgrade = Upgrade(handshake.request, dialect.subprotocols, limits.compression)
    upgrade.caller = handshake.accept(exchange, upgrade.caller_protocol, [])
    return upgrade


def _first_message(endpoint: Endpoint, max_size: int, seconds: float) -> bytes:
    """The first message. Raises GatewayError, and AbortConnection if the caller has left."""
    timeout = gevent.Timeout(seconds)
    try:
        with timeout:
            message = endpoint.receive()
    except gevent.Timeout as error:
        if error is not timeout:
            raise
        text = f"No message has come for {seconds:g} seconds."
        raise GatewayError(408, "request_timeout", text) from error
    except Closed as error:
        raise AbortConnection(AbortReason.CALLER_LEFT, "no message has come") from error
    if len(message.data) > max_size:
        text = f"The first message is larger than {max_size} bytes."
        raise GatewayError(413, "request_too_large", text)
    return message.data


def _error_of(response: Response) -> GatewayError:
    """An upstream's response that is no session, as an error."""
    text = bytearray()
    for piece in (response.body,) if isinstance(response.body, bytes) else response.body:
        text += piece
        if len(text) > _MAX_ERROR:
            break
    try:
        document = orjson.loads(text)
        message = str(document["error"]["message"])
    except (ValueError, KeyError, TypeError):
        message = f"The upstream has answered {response.status} in place of a session."
    return GatewayError(max(response.status, 400), "upstream_error", message)


def _refuse(
    endpoint: Endpoint,
    exchange: Exchange,
    dialect: Dialect,
    error: GatewayError,
    outcome: Outcome | None = None,
) -> None:
    """Close the session with the message of an error, behind the dialect's error event if it has
    one, and record it."""
    code = _CODES.get(error.status, 1008 if error.status < 500 else 1011)
    outcome = Outcome.of_status(error.status) if outcome is None else outcome
    exchange.record.end(error.status, outcome, error.code)
    exchange.record.traffic = Traffic(outcome=outcome, code=code)
    if dialect.socket_error is not None:
        with suppress(Closed):
            endpoint.send_text(dialect.socket_error(error, exchange.request_id))
    endpoint.close(code, error.message)


class CallerHandshake(Struct, frozen=True):
    """A valid handshake; `header` and `extensions` are those of the response."""

    request: UpgradeRequest
    header: str
    extensions: Extensions
    max_message: int

    def accept(self, exchange: Exchange, protocol: str, headers: Headers) -> Channel:
        """The caller's side of the WebSocket, after the response 101 with these headers and the
        gateway's. Raises AbortConnection if the caller has left."""
        fields = [*headers, *common_headers(exchange).items()]
        head = switching_protocols(self.request.key, protocol, self.header, fields)
        sock, read_ahead = exchange.connection.take_over()
        send_head(sock, head)
        return Channel(
            sock,
            client=True,
            limit=self.max_message,
            extensions=self.extensions,
            first=read_ahead,
        )


def read_handshake(exchange: Exchange, limits: SessionLimits) -> CallerHandshake:
    """The handshake of a request. Raises GatewayError 400 or 426 for an invalid one, 501 under a
    server that cannot hand over its connection."""
    request = parse_request(exchange.environ)
    header, extensions = negotiate_deflate(request.extensions, limits.compression)
    require_take_over(exchange.connection)
    return CallerHandshake(request, header, extensions, limits.max_message)
