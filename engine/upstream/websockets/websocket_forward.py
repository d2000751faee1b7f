"""The last handler of a WebSocket route: upgrade the upstream, then the caller, then relay.

Until the upstream's 101 it is handled as any HTTP request, with the same errors. Afterwards the two
sockets belong to a `Session`; when it ends, the caller's connection is closed.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from engine.dialects import Dialect
from engine.exchange.client_secret import ClientSecret
from engine.exchange.environ_headers import wants_websocket
from engine.exchange.exchange import Exchange, Handler, Response
from engine.exchange.request_record import Traffic
from engine.relay.websocket.channel import Channel
from engine.relay.websocket.message_edits import MessageEdits
from engine.relay.websocket.open_sessions import SessionLimits, Sessions
from engine.relay.websocket.session import Session
from engine.upstream.websockets.first_message import read_handshake
from engine.upstream.websockets.websocket_upgrade import Upgrade
from engine.values.errors import AbortConnection, AbortReason, GatewayError

log = logging.getLogger("modelway")


def converse(
    forward: Handler,
    dialect: Dialect,
    limits: SessionLimits,
    sessions: Sessions,
    edits_of: Callable[[Exchange], MessageEdits | None] = lambda exchange: None,
) -> Handler:
    """A handler that upgrades a request to a WebSocket and relays it until it ends.

    `forward` reaches the upstream, and `edits_of` gives the edits of a session's messages. Raises
    GatewayError before the upgrade and AbortConnection after it, so that the connection is closed
    and no HTTP response follows the session.
    """

    def handle(exchange: Exchange) -> Response:
        handshake = read_handshake(exchange, limits)
        upgrade = exchange.upgrade
        if not isinstance(upgrade, Upgrade):  # else `first_message` has accepted it
            upgrade = Upgrade(handshake.request, dialect.subprotocols, limits.compression)
            exchange.upgrade = upgrade
        response = forward(exchange)
        if upgrade.response is None:
            return response
        sock, first = upgrade.response.detach()
        try:
            protocol, headers = upgrade.caller_protocol, response.headers
            caller = upgrade.caller or handshake.accept(exchange, protocol, headers)
            target = Channel(
                sock,
                client=False,
                limit=limits.max_message,
                extensions=upgrade.extensions,
                first=first,
            )
            session = _session(exchange, dialect, caller, target, limits, edits_of(exchange))
            _run(session, sessions, exchange)
        finally:
            sock.close()
        raise AbortConnection(AbortReason.SESSION_ENDED)

    return handle


def upgrade_or_http(upgrade: Handler, http: Handler) -> Handler:
    """A handler of an operation that also serves requests without an upgrade."""

    def handle(exchange: Exchange) -> Response:
        return (upgrade if wants_websocket(exchange.environ) else http)(exchange)

    return handle


def _session(
    exchange: Exchange,
    dialect: Dialect,
    caller: Channel,
    target: Channel,
    limits: SessionLimits,
    edits: MessageEdits | None,
) -> Session:
    """The session of two open sockets, whose traffic the record has from now on."""
    record, upgrade = exchange.record, exchange.upgrade
    assert isinstance(upgrade, Upgrade)
    record.traffic = Traffic()
    return Session(
        *(caller, target, _until_end(limits, record.client_secret)),
        record.traffic,
        error=_error_writer(exchange, dialect),
        usage=dialect.socket_usage,
        total=dialect.socket_total,
        redact=upgrade.redact,
        opening=upgrade.opening or _opening(exchange, dialect),
        edits=edits,
    )


def _until_end(limits: SessionLimits, secret: ClientSecret | None) -> SessionLimits:
    """The limits of a session, which ends no later than its client secret says."""
    end = None if secret is None else secret.session.get("end")
    if end is None:
        return limits
    return limits._replace(session=min(limits.session, max(0.0, end - time.time())))


def _opening(exchange: Exchange, dialect: Dialect) -> bytes:
    """The first message to the upstream: the settings that a client secret is for."""
    secret, form = exchange.record.client_secret, dialect.client_secrets
    return b"" if secret is None or form is None else form.opening(secret.session)


def _run(session: Session, sessions: Sessions, exchange: Exchange) -> None:
    """Run a session. Failures are logged, because no HTTP response can report them. Raises
    AbortConnection for one."""
    try:
        sessions.run(session)
    except Exception as error:
        log.exception("request %s failed in its session", exchange.request_id)
        raise AbortConnection(AbortReason.SESSION_ENDED, "the session failed") from error


def _error_writer(exchange: Exchange, dialect: Dialect) -> Callable[[GatewayError], bytes] | None:
    """Writes the dialect's error message of a session; None for a dialect that has none."""
    write, request_id = dialect.socket_error, exchange.request_id
    if write is None:
        return None
    return lambda error: write(error, request_id)
