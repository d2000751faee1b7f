"""Takes over the connection of a caller whose request becomes a WebSocket."""

from __future__ import annotations

from typing import Any

from engine.exchange.caller_connection import CallerConnection
from engine.values.errors import AbortConnection, AbortReason, GatewayError

_SEND_SECONDS = 10.0


def require_take_over(connection: CallerConnection) -> None:
    """Raise GatewayError 501 if the WSGI server cannot hand over the caller's connection."""
    if not connection.can_take_over:
        message = "The server of this gateway cannot hand over a connection for a WebSocket."
        raise GatewayError(501, "not_implemented", message, retry=False)


def send_head(sock: Any, head: bytes) -> None:
    """Send the head of the 101 response on a socket that was taken over. Raises AbortConnection."""
    try:
        sock.settimeout(_SEND_SECONDS)
        sock.sendall(head)
    except OSError as error:
        raise AbortConnection(
            AbortReason.CALLER_LEFT, "the caller left before the upgrade"
        ) from error
