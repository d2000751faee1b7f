"""The last handler of a WebSocket's route: the upstream is asked, then the caller answered 101.

Everything up to the upstream's 101 is a request like any other, and so is every refusal. After it
the two sockets belong to a `Session`, whose end is the end of the caller's connection.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

from engine.dialects import Dialect
from engine.edge.response import common_headers
from engine.exchange.exchange import Exchange, Handler, Response
from engine.exchange.record import Traffic
from engine.relay.websocket.channel import Channel
from engine.relay.websocket.handshake import asked, deflating, switching
from engine.relay.websocket.session import Session, SessionLimits
from engine.relay.websocket.sessions import Sessions
from engine.upstream.websocket_upgrade import Upgrade
from engine.values.errors import AbortConnection, AbortReason, GatewayError

_SEND_SECONDS = 10.0
log = logging.getLogger("modelway")


def converse(
    forward: Handler, dialect: Dialect, limits: SessionLimits, sessions: Sessions
) -> Handler:
    """A handler that makes a request a WebSocket and relays it to its end.

    `forward` reaches the upstream. Raises GatewayError before the upgrade and AbortConnection
    after it, so that the connection is closed and no HTTP response follows the session.
    """

    def handle(exchange: Exchange) -> Response:
        wanted = asked(exchange.environ)
        agreed, ours = deflating(wanted.extensions) if limits.compression else ("", ())
        if not exchange.connection.can_take_over:
            message = "The server that runs this gateway does not let go of a connection."
            raise GatewayError(501, "not_implemented", message, retry=False)
        upgrade = exchange.upgrade = Upgrade(wanted, dialect.subprotocols, limits.compression)
        response = forward(exchange)
        if upgrade.response is None:
            return response
        headers = [*response.headers, *common_headers(exchange).items()]
        head = switching(wanted.key, upgrade.answered, agreed, headers)
        upstream, first = upgrade.response.detach()
        theirs = upgrade.extensions
        try:
            sock, early = exchange.connection.take_over()
            _send(sock, head)
            limit = limits.max_message
            exchange.traffic = Traffic()
            session = Session(
                Channel(sock, client=True, limit=limit, extensions=ours, first=early),
                Channel(upstream, client=False, limit=limit, extensions=theirs, first=first),
                limits,
                exchange.traffic,
                error=_teller(exchange, dialect),
                usage=dialect.socket_usage,
            )
            _run(session, sessions, exchange)
        finally:
            upstream.close()
        raise AbortConnection(AbortReason.SESSION_ENDED)

    return handle


def _run(session: Session, sessions: Sessions, exchange: Exchange) -> None:
    """Run a session. What fails in it is logged here: there is nobody left to tell it to."""
    try:
        sessions.run(session)
    except Exception as error:
        log.exception("request %s failed in its session", exchange.request_id)
        raise AbortConnection(AbortReason.SESSION_ENDED, "the session failed") from error


def _teller(exchange: Exchange, dialect: Dialect) -> Any:
    if dialect.socket_error is None:
        return None
    return partial(_tell, dialect.socket_error, exchange.request_id)


def _tell(make: Any, request_id: str, words: str) -> bytes:
    told: bytes = make(GatewayError(502, "upstream_error", words), request_id)
    return told


def _send(sock: Any, head: bytes) -> None:
    try:
        sock.settimeout(_SEND_SECONDS)
        sock.sendall(head)
    except OSError as error:
        raise AbortConnection(
            AbortReason.CALLER_LEFT, "the caller left before the upgrade"
        ) from error
