"""Falcon's application, whose responses, errors included, are the gateway's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import falcon

from engine import dialects
from engine.config.listen_address import ListenAddress
from engine.edge.cors import Cors
from engine.edge.falcon_responder import Responder, Responders, server_response
from engine.edge.path_operations import Choose, Routes, first_responder
from engine.edge.router import Router, raw_target
from engine.edge.unmatched import fail
from engine.exchange.caller_connection import CallerConnection, WSGIConnection
from engine.exchange.exchange import Exchange, Handler, Response, Stage, compose
from engine.values.errors import AbortConnection, GatewayError

Serve = Callable[[dict[str, Any], Callable[..., Any], CallerConnection], Iterable[bytes]]
"""The WSGI call of an application (PEP 3333), with the connection of the request."""


class BareRequest(falcon.Request):
    """What Falcon and this room need of a request: the exchange reads its query, headers and body
    from the environ, as they were sent."""

    def __init__(self, env: dict[str, Any], options: falcon.RequestOptions | None = None) -> None:
        self.env, self.method, self.path = env, env["REQUEST_METHOD"], env["PATH_INFO"]
        self.is_websocket = False  # one over ASGI


class Application(falcon.App):  # type: ignore[type-arg]
    """Falcon's application, with the attributes and methods that a server needs.

    `telemetry` is the application on the listener for metrics and health, `telemetry_address` the
    address of that listener. A server with several listeners calls `on_listener` for each.

    `routes` is its router, for calls from inside. `costly_operations` are those with bodies that
    may take long to validate.

    The server calls `leaving` when its shutdown begins, and says whether its worker has a
    successor; without one it accepts connections for `delay` more seconds. It calls `interrupt`
    when the grace period of open requests is over, and `close` when its worker ends and no request
    is open. `record_refusal` records the responses of `refuse`.
    """

    interrupt: Callable[[], None] = staticmethod(lambda: None)
    leaving: Callable[[bool], None] = staticmethod(lambda has_successor: None)
    close: Callable[[], None] = staticmethod(lambda: None)
    record_refusal: Callable[[Exchange], None] = staticmethod(lambda exchange: None)

    routes: Routes
    costly_operations: frozenset[str] = frozenset()
    delay: float = 0.0
    telemetry: Application | None = None
    telemetry_address: ListenAddress | None = None

    def __call__(self, env: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """The WSGI application for any server (PEP 3333)."""
        return self.serve(env, start_response, WSGIConnection(env["wsgi.input"]))

    def serve(
        self, env: dict[str, Any], start_response: Callable[..., Any], connection: CallerConnection
    ) -> Iterable[bytes]:
        """Respond to a request. The connection is passed as `wsgi.input`, because Falcon makes its
        request from the environ alone."""
        env["wsgi.input"] = connection
        return super().__call__(env, start_response)

    def operation(self, env: dict[str, Any]) -> str:
        """The id of the operation that a request leads to; "" for none. Of several, the first."""
        return str(self.routes.find("", BareRequest(env))[2].get("operation", ""))

    def refuse(self, error: GatewayError, address: str) -> Response:
        """The response to a request that the server refuses before routing, because it is invalid
        or there is no room for its connection. `address` is the caller's."""
        exchange, response = server_response(error, address)
        self.record_refusal(exchange)
        return response

    def fail(self) -> Response:
        """The 500 instead of a response whose head cannot be sent. That response's exchange is
        already recorded."""
        error = GatewayError(500, "internal_error", "The gateway failed on this request.")
        return server_response(error)[1]

    def on_listener(self, address: Any) -> Serve:
        """The function that serves the requests of a listener, given its socket's address: the API,
        or metrics and health."""
        if self.telemetry is not None and self.is_telemetry(address):
            return self.telemetry.serve
        return self.serve

    def is_telemetry(self, address: Any) -> bool:
        """Whether the socket's address is that of the listener for metrics and health."""
        return self.telemetry_address is not None and self.telemetry_address.matches(address)


def application(
    responders: Responders,
    stages: Sequence[Stage],
    *,
    pages: Mapping[str, Responder] | None = None,
    cors: Cors | None = None,
    hint: str = "",
    choose: Choose = first_responder,
    combine: Callable[[Callable[[Choose], Router]], Routes] | None = None,
) -> Application:
    """A Falcon application without routes. All its responses, errors included, are the gateway's.

    Requests that match no route pass through `stages`; for the other arguments see Router.
    `combine` makes a router that consists of several, each of which its argument makes.
    """
    all_dialects = dialects.by_request()

    def unmatched(handler: Handler) -> Responder:
        return responders.responder(compose(stages, handler), all_dialects)

    def unexpected(
        req: falcon.Request, resp: falcon.Response, error: Exception, params: Any
    ) -> None:
        """Handle exceptions from outside a handler: Falcon's HTTP errors, and AbortConnection."""
        if isinstance(error, AbortConnection):
            detail = str(error.strerror)
            # A new exception, because the traceback of the first keeps Falcon's frames alive.
            raise AbortConnection(error.reason, detail) from None
        path, _, query = raw_target(req.env).partition("?")
        unmatched(partial(fail, error))(req, resp, path, query)

    def make(choose: Choose) -> Router:
        return Router(unmatched, pages=pages, cors=cors, hint=hint, choose=choose)

    routes = make(choose) if combine is None else combine(make)
    router: Any = routes  # Falcon wants its own type
    app = Application(router=router, request_type=BareRequest)
    app.routes = routes
    app.resp_options.default_media_type = None  # type: ignore[assignment]
    app.add_error_handler((Exception, falcon.HTTPError), unexpected)
    return app
