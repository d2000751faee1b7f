"""The handler of the Responses API over a WebSocket: upgrades a request, then runs a session."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from msgspec.structs import replace

from engine.callers.jwt.identity import is_signed
from engine.dialects import Dialect
from engine.edge.send_response import common_headers
from engine.exchange.caller_connection import Answer, InternalCaller, TrySend, UpstreamSockets
from engine.exchange.exchange import Exchange, Handler, Response
from engine.exchange.request_record import Traffic
from engine.exchange.stage_services import Services
from engine.relay.websocket.channel import Channel
from engine.relay.websocket.handshake import (
    negotiate_deflate,
    parse_request,
    require_take_over,
    send_head,
    switching_protocols,
)
from engine.relay.websocket.open_sessions import SessionLimits, Sessions
from engine.sockets.lanes import Run
from engine.sockets.memory import MemoryBudget, ResponseMemory
from engine.sockets.session import ClientOutlet, ResponsesSession
from engine.sockets.socket_request import Call, Turns
from engine.values.caller import Caller
from engine.values.errors import AbortConnection, AbortReason, token_ended

log = logging.getLogger("modelway")

_NOT_OF_A_REQUEST = frozenset(
    {
        *("HTTP_UPGRADE", "HTTP_CONNECTION", "HTTP_IDEMPOTENCY_KEY", "wsgi.input"),
        *("HTTP_TRANSFER_ENCODING", "HTTP_CONTENT_ENCODING", "HTTP_EXPECT"),
    }
)
_MAX_MESSAGE = "x-codex-websocket-max-message-bytes"
"""A header of the upgrade: what is larger for a message, Codex sends by HTTP."""

Environ = dict[str, Any]
CallOperation = Callable[[Environ, bytes, InternalCaller, TrySend], Answer]
"""Calls the operation of an environ from inside."""


OpenSockets = Callable[[], UpstreamSockets]


class LaneSockets:
    """The sockets to upstreams of a caller's socket, by lane: each has a conversation of its own
    there."""

    def __init__(self, open_sockets: OpenSockets | None) -> None:
        self._open = open_sockets
        self._lanes: dict[str, UpstreamSockets] = {}

    def of(self, lane: str) -> UpstreamSockets | None:
        """Those of a lane."""
        if self._open is None:
            return None
        if lane not in self._lanes:
            self._lanes[lane] = self._open()
        return self._lanes[lane]

    def close(self) -> None:
        """Close all."""
        for sockets in self._lanes.values():
            sockets.close()


class SocketSettings(NamedTuple):
    """What a route says of its sockets. `max_request` is the largest body of a request in
    bytes."""

    dialect: Dialect
    limits: SessionLimits
    max_request: int


class ResponsesSockets:
    """The sockets of a worker. `call` calls an operation from inside; `open_sockets` makes the
    sockets to upstreams of one lane, if it has any."""

    def __init__(
        self,
        call: CallOperation,
        services: Services,
        sessions: Sessions,
        open_sockets: OpenSockets | None = None,
    ) -> None:
        self._call, self._services, self._sessions = call, services, sessions
        self._open_sockets = open_sockets
        self._budget = MemoryBudget()

    def handler(self, settings: SocketSettings) -> Handler:
        """The handler of a route. Raises GatewayError before the upgrade, AbortConnection after
        the session."""
        max_message = min(settings.limits.max_message, settings.max_request)
        limits = settings.limits._replace(max_message=max_message)
        settings = settings._replace(limits=limits)

        def handle(exchange: Exchange) -> Response:
            request = parse_request(exchange.environ)
            header, extensions = negotiate_deflate(request.extensions, limits.compression)
            require_take_over(exchange.connection)
            headers = [(_MAX_MESSAGE, str(max_message)), *common_headers(exchange).items()]
            head = switching_protocols(request.key, "", header, headers)
            sock, early = exchange.connection.take_over()
            send_head(sock, head)
            channel = Channel(
                sock, client=True, limit=max_message, extensions=extensions, first=early
            )
            self._converse(exchange, channel, settings)
            raise AbortConnection(AbortReason.SESSION_ENDED)

        return handle

    def _converse(self, exchange: Exchange, channel: Channel, settings: SocketSettings) -> None:
        """Run the session of an upgraded socket. Raises AbortConnection if it fails."""
        limits, heavy = settings.limits, exchange.connection.heavy_calls
        memory = ResponseMemory(2 * limits.max_message, self._budget)
        lanes = LaneSockets(self._open_sockets)
        call, caller = self._calls(exchange), _current_caller(exchange, self._services)

        def caller_in(lane: str) -> InternalCaller:
            return replace(caller(), sockets=lanes.of(lane))

        def turns(outlet: ClientOutlet) -> Run:
            return Turns(call, caller_in, settings.dialect, memory, outlet).run

        traffic = exchange.record.traffic = Traffic()
        large = math.inf if heavy is None else heavy.above
        try:
            self._sessions.run(ResponsesSession(channel, limits, traffic, turns, large))
        except Exception as error:
            log.exception("request %s failed in its session", exchange.request_id)
            raise AbortConnection(AbortReason.SESSION_ENDED, "the session failed") from error
        finally:
            memory.clear()
            lanes.close()

    def _calls(self, exchange: Exchange) -> Call:
        """Calls the operation for a request of a socket; a large one in a heavy worker, if there
        is one."""
        environ, heavy = request_environ(exchange), exchange.connection.heavy_calls

        def call(body: bytes, internal: InternalCaller, send: TrySend) -> Answer:
            of_body = {**environ, "CONTENT_LENGTH": str(len(body))}
            if heavy is not None and len(body) > heavy.above:
                answer = heavy(of_body, body, internal)
                if answer is not None:
                    return answer
            return self._call(of_body, body, internal, send)

        return call


def request_environ(exchange: Exchange) -> Environ:
    """The WSGI environ of the requests of a socket: that of the upgrade, as a POST of JSON."""
    environ = {
        key: value
        for key, value in exchange.environ.items()
        if key not in _NOT_OF_A_REQUEST and not key.startswith("HTTP_SEC_WEBSOCKET_")
    }
    environ |= {"REQUEST_METHOD": "POST", "CONTENT_TYPE": "application/json"}
    environ["RAW_URI"] = f"{exchange.path}?{exchange.query}" if exchange.query else exchange.path
    environ["QUERY_STRING"] = exchange.query
    environ["HTTP_ACCEPT"] = "text/event-stream"
    environ.pop("HTTP_ACCEPT_ENCODING", None)
    return environ


def _current_caller(exchange: Exchange, services: Services) -> Callable[[], InternalCaller]:
    """A function that looks up the caller of a socket: its limits may have changed since the
    upgrade, and it raises GatewayError 401 once the token is not valid any more."""
    first, token = exchange.caller, exchange.token

    def current() -> Caller | None:
        if not token:
            return first
        if not is_signed(token):
            return services.tokens.get(token)
        validity = services.token_validity  # what its issuer has signed stays as it is
        return None if validity is not None and validity.revoked([token]) else first

    def look_up() -> InternalCaller:
        caller = current()
        expires = None if caller is None else caller.expires
        if (token and caller is None) or (expires is not None and services.clock() >= expires):
            raise token_ended()
        return InternalCaller(caller, token)

    return look_up
