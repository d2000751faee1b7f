"""The WebSocket handshake of a caller: read before anything else, accepted when its session may
begin."""

from __future__ import annotations

from msgspec import Struct

from engine.edge.send_response import common_headers
from engine.exchange.exchange import Exchange
from engine.exchange.member_protocols import Headers
from engine.relay.websocket.channel import Channel
from engine.relay.websocket.connection_upgrade import require_take_over, send_head
from engine.relay.websocket.handshake import (
    Extensions,
    UpgradeRequest,
    negotiate_deflate,
    parse_request,
    switching_protocols,
)
from engine.relay.websocket.open_sessions import SessionLimits


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
