"""The handlers of requests that match no route: each raises the error that says why, in the dialect
of the request, or responds to a CORS preflight."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

import falcon

from engine.edge.cors import Cors
from engine.exchange.environ_headers import wants_websocket
from engine.exchange.exchange import Exchange, Response
from engine.source.suggestion import near
from engine.spec.document.path_tree import PathMiss
from engine.values.errors import GatewayError

log = logging.getLogger("modelway")

MAX_SHOWN = 200
"""Characters of a path that an error shows."""


def fail(error: Exception, exchange: Exchange) -> Response:
    """Raise the error for a request that Falcon refused, or on which the application failed."""
    if isinstance(error, falcon.HTTPError) and error.status_code != 500:
        raise GatewayError(error.status_code, "bad_request", "The request is not valid.")
    log.error("request %s failed", exchange.request_id, exc_info=error)
    raise GatewayError(500, "internal_error", "The gateway failed on this request.")


def unsafe_address(reason: str) -> GatewayError:
    """400: the path or the query must not reach an upstream."""
    return GatewayError(400, "invalid_path", f"The request's address cannot be served: {reason}.")


def refuse_address(reason: str, exchange: Exchange) -> Response:
    """Raise 400 for an unsafe path or query."""
    raise unsafe_address(reason)


def miss(
    path_miss: PathMiss, cors: Cors, hint_of: Callable[[str, str], str], exchange: Exchange
) -> Response:
    """Raise 404 for an unknown path, 405 for a path with other methods, 426 for a WebSocket
    handshake on another operation; return the response to a CORS preflight."""
    if path_miss.allowed and not path_miss.verbs:
        if cors.is_preflight(exchange):
            return cors.preflight_response(exchange, path_miss.allowed)
        if wants_websocket(exchange.environ):
            raise _no_websocket(path_miss.allowed)
        raise GatewayError(
            405,
            "method_not_allowed",
            f"{exchange.method} is not allowed here; use {' or '.join(path_miss.allowed)}.",
            headers=[("allow", ", ".join(path_miss.allowed))],
        )
    path = exchange.path[:MAX_SHOWN]
    verb = ":" + exchange.path.rpartition(":")[2]
    suggestion = near(verb, path_miss.verbs) if path_miss.verbs else None
    if suggestion:
        hint = f" Did you mean '{suggestion}'?"
    else:
        hint = hint_of(exchange.path, exchange.method)
    raise GatewayError(404, "not_found", f"There is no {exchange.method} {path}.{hint}")


def _no_websocket(allowed: Sequence[str]) -> GatewayError:
    """426: clients that try a WebSocket first then send an ordinary request at once; after a 405
    they would retry the WebSocket. `Upgrade` names the protocol to use (RFC 9110 15.5.22)."""
    message = f"There is no WebSocket here; send {' or '.join(allowed)} over HTTP/1.1."
    headers = [
        ("upgrade", "HTTP/1.1"),
        ("connection", "Upgrade"),
        ("allow", ", ".join(allowed)),
    ]
    return GatewayError(426, "upgrade_required", message, headers=headers)
