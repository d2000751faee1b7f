"""Calls of operations from inside of the process: `send` passes one request to an application, an
`OperationCall` sends many to one operation, for tools.

Such a request runs the whole stack of its route, as one of a socket does: its limits, policies,
ledger entry, metrics and log line are those of the caller that it names. No header can make one of
a request from outside: the caller is a value of the connection, which only this module makes with
one (`InternalConnection`).
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from engine.app.routes.route_handler import checks_left, handler_of
from engine.app.routes.worker_parts import Parts
from engine.edge.falcon_application import Application
from engine.edge.falcon_responder import answer_errors
from engine.edge.inside_call import InternalResponse, respond
from engine.exchange.caller_connection import (
    InternalCaller,
    InternalConnection,
    WSGIConnection,
)
from engine.exchange.exchange import Content, Exchange, Handler, Response
from engine.exchange.internal_request import Request, environ_of, environ_of_head
from engine.exchange.member_protocols import Headers
from engine.exchange.request_body import Body, ReceivedBody
from engine.plan.plan import Plan
from engine.plan.route import Route
from engine.relay.request_headers import NEVER_SENT
from engine.spec.document.path_tree import Spans
from engine.spec.request_writer import RequestValues, RequestWriter
from engine.values.media_types import essence

_REFUSED_HEADERS = NEVER_SENT | {"content-type"}
_WHY_REFUSED = "it says who calls or how the body is sent; write `caller` or `media_type` instead"


class CannotCall(ValueError):
    """An operation cannot be called from inside, or not with these values; `str` gives the
    reason."""


class CallableOperation(Struct, frozen=True):
    """An operation that can be called, compiled once (`operation_of`)."""

    id: str
    writer: RequestWriter


def operation_of(plan: Plan, route: Route) -> CallableOperation:
    """The operation of a route of a plan. Raises CannotCall."""
    operation = route.operation
    if not operation.is_http:
        raise CannotCall(f"{operation.id} is a WebSocket, which is not called from inside")
    writer = plan.specifications[operation.spec].writer(operation, route.slash_variables)
    return CallableOperation(operation.id, writer)


def check_headers(operation: str, names: Iterable[str]) -> None:
    """Raises CannotCall for a header that says who calls, or how the body is sent."""
    for name in names:
        if name.lower() in _REFUSED_HEADERS:
            raise CannotCall(f"header '{name}' cannot be given to {operation}: {_WHY_REFUSED}")


def send(
    app: Application, request: Request, caller: InternalCaller | None = None
) -> InternalResponse:
    """Send a request; without a `caller` it counts as one of a socket, and needs a token. Raises
    ValueError for a request that is not valid HTTP."""
    environ = environ_of(request)
    if caller is None:
        return respond(app, environ, WSGIConnection(io.BytesIO(request.body)))
    return respond(app, environ, InternalConnection(request.body, caller))


class OperationRequest(Struct, frozen=True):
    """A request that leads to its operation. `environ` has its head, `variables` the spans of the
    variables of its path, `content` what its body says, if that need not be parsed again."""

    method: str
    path: str
    query: str
    environ: dict[str, Any]
    body: bytes
    mount: str
    variables: Spans
    content: Content

    @property
    def target(self) -> str:
        """The path with its query, as on the wire."""
        return f"{self.path}?{self.query}" if self.query else self.path


class OperationCall:
    """An operation that can be called. What it needs is made at its first call. `is_judged`: its
    document has judged the values of each request. Raises CannotCall for a WebSocket.

    It passes neither WSGI nor Falcon. The router is asked whether a request leads to this
    operation: a value of a path can make it the path of another one, whose guards are others.
    """

    def __init__(
        self, app: Application, route: Route, parts: Parts, *, is_judged: bool = False
    ) -> None:
        self._routes = app.routes
        self._operation = operation_of(parts.plan, route)
        self._route, self._dialect = route, route.dialects[-1]
        self._parts, self._is_judged = parts, is_judged
        self._handler: Handler | None = None
        self._max_body = parts.plan.config.server.max_body

    def request(self, values: RequestValues, address: str, headers: Headers) -> OperationRequest:
        """The request with these values and more headers, from an IP address. Raises CannotCall if
        they cannot be written, or lead to another operation; GatewayError for an unsafe path."""
        operation = self._operation
        if values.headers:
            check_headers(operation.id, values.headers)
        try:
            method, path, query, fields, body = operation.writer.write(values)
            target = f"{path}?{query}" if query else path
            fields = (*fields, *headers) if headers else fields
            environ = environ_of_head(method, target, path, query, fields, len(body), address)
        except ValueError as error:
            raise CannotCall(str(error)) from error
        candidate = self._routes.candidate(operation.id, method, path, query)
        if candidate is None:
            names = ", ".join(values.path)
            raise CannotCall(f"{names}: with this value the path is that of another operation")
        return OperationRequest(
            method,
            path,
            query,
            environ,
            body,
            candidate.resource.mount,
            candidate.variables,
            Content(essence(values.media_type), values.body) if self._is_judged else Content(),
        )

    def send(
        self, request: OperationRequest, caller: InternalCaller, request_id: str
    ) -> tuple[Exchange, Response]:
        """Send a request. The exchange must be ended when the response was read, or is not read
        any more; until then it goes on. Raises AbortConnection where the connection of a caller
        would be cut, and if the caller disconnects."""
        exchange = Exchange(
            request.method,
            request.path,
            request.query,
            request.environ,
            self._dialect,
            request_id,
            request.mount,
            request.variables,
            InternalConnection(b"", caller),
        )
        exchange.operation = self._operation.id
        exchange.body_reader = ReceivedBody(Body(request.body), self._max_body)
        exchange.content = request.content
        exchange.record.mcp = caller.mcp
        try:
            response = (self._handler or self._make())(exchange)
        except BaseException:
            exchange.end()
            raise
        if isinstance(response.body, bytes):
            exchange.record.bytes_out = len(response.body)
        return exchange, response

    def _make(self) -> Handler:
        parts = self._parts
        checks = checks_left(self._route) if self._is_judged else None
        handler = handler_of(self._route, parts, is_chosen=True, checks=checks)
        outer = [parts.lifecycle.observe, answer_errors]
        self._handler = parts.shared.compose(outer, handler)
        return self._handler
