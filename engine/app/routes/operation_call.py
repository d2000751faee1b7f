"""Calls one operation from inside, again and again: `OperationCall`, for tools.

Other than `internal_call.send` it passes neither WSGI nor Falcon. The router is asked whether the
request leads to this operation: a value of a path can make it the path of another one, whose guards
are others.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from engine.app.routes.internal_call import CannotCall, check_headers, operation_of
from engine.app.routes.route_handler import checks_left, handler_of
from engine.app.routes.worker_parts import Parts
from engine.edge.falcon_responder import answer_errors
from engine.edge.router import Application
from engine.exchange.caller_connection import InternalCaller, InternalConnection
from engine.exchange.exchange import Content, Exchange, Handler, Response
from engine.exchange.internal_request import Request, environ_of
from engine.exchange.member_protocols import Headers
from engine.exchange.request_body import Body, ReceivedBody
from engine.plan.route import Route
from engine.spec.document.path_tree import Spans
from engine.spec.request_writer import RequestValues
from engine.values.media_types import essence


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
    document has judged the values of each request. Raises CannotCall for a WebSocket."""

    def __init__(
        self, app: Application, route: Route, parts: Parts, *, is_judged: bool = False
    ) -> None:
        self._routes = app.routes
        self._operation = operation_of(parts.plan, route)
        self._route = route
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
            parts = operation.writer.write(values)
            fields = (*parts.headers, *headers) if headers else parts.headers
            environ = environ_of(Request(parts.method, parts.target, fields, parts.body, address))
        except ValueError as error:
            raise CannotCall(str(error)) from error
        path, _, query = parts.target.partition("?")
        candidate = self._routes.candidate(operation.id, parts.method, path, query)
        if candidate is None:
            names = ", ".join(values.path)
            raise CannotCall(f"{names}: with this value the path is that of another operation")
        return OperationRequest(
            *(parts.method, path, query, environ, parts.body),
            *(candidate.resource.mount, candidate.variables),
            Content(essence(values.media_type), values.body) if self._is_judged else Content(),
        )

    def send(
        self, request: OperationRequest, caller: InternalCaller, request_id: str
    ) -> tuple[Exchange, Response]:
        """Send a request. The exchange must be ended when the response was read, or is not read
        any more; until then it goes on. Raises AbortConnection where the connection of a caller
        would be cut, and if the caller disconnects."""
        exchange = Exchange(
            *(request.method, request.path, request.query, request.environ),
            *(self._route.dialects[-1], request_id, request.mount, request.variables),
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
