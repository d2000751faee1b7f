"""Calls operations of an application from inside of its process: `call`.

A call runs the whole stack of its route, as a request of a socket does: its limits, policies,
ledger entry, metrics and log line are those of the caller that it names. No header can make such a
call of a request from outside: the caller is a value of the connection, which only this module
makes with one (`InternalConnection`).
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass

from engine.edge.router import Application
from engine.exchange.caller_connection import (
    CallerConnection,
    InternalCaller,
    InternalConnection,
    WSGIConnection,
)
from engine.exchange.request import HERE, Request, environ_of
from engine.plan.route import Plan, Route
from engine.relay.request_headers import NEVER_SENT
from engine.spec.request_writer import RequestValues, RequestWriter

_REFUSED_HEADERS = NEVER_SENT | {"content-type"}
_WHY_REFUSED = "it says who calls or how the body is sent; write `caller` or `media_type` instead"


class CannotCall(ValueError):
    """An operation cannot be called from inside, or not with these values; `str` gives the
    reason."""


class InternalResponse:
    """A response: `status`, `headers`, and the body as it arrives, by iteration. `close` ends the
    exchange, and with it the request to the upstream.

    Iteration raises AbortConnection where the connection of a caller would be cut.
    """

    def __init__(self, status: int, headers: list[tuple[str, str]], body: Iterable[bytes]) -> None:
        self.status, self.headers = status, headers
        self._body, self._pieces = body, iter(body)

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces

    def read(self) -> bytes:
        """The rest of the body; closes the response."""
        with closing(self):
            return b"".join(self._pieces)

    def close(self) -> None:
        close = getattr(self._body, "close", None)  # WSGI: an iterable may have one
        if close is not None:
            close()


@dataclass(frozen=True, slots=True)
class CallableOperation:
    """An operation that can be called, compiled once (`callable_operation`)."""

    id: str
    writer: RequestWriter


def callable_operation(plan: Plan, operation: str) -> CallableOperation:
    """The operation `spec.operationId` of a plan. Raises CannotCall for one that has no route, and
    for a WebSocket."""
    for route in plan.routes:
        if route.operation.id == operation:
            return operation_of(plan, route)
    raise CannotCall(f"'{operation}' has no route; call an operation that `modelway routes` lists")


def operation_of(plan: Plan, route: Route) -> CallableOperation:
    """The operation of a route of a plan. Raises CannotCall."""
    operation = route.operation
    if operation.websocket:
        raise CannotCall(f"{operation.id} is a WebSocket, which is not called from inside")
    writer = plan.specifications[operation.spec].writer(operation, route.slash_variables)
    return CallableOperation(operation.id, writer)


def call(
    app: Application,
    operation: CallableOperation,
    caller: InternalCaller,
    values: RequestValues,
    *,
    address: str = HERE,
) -> InternalResponse:
    """Call an operation as `caller` does, who is at this IP address. Returns when the head of the
    response is known. Errors of the gateway are responses in the dialect of the operation.

    Raises CannotCall if the values cannot be written as a request, AbortConnection where the
    connection of a caller would be cut, and if the caller disconnects (`InternalCaller.fileno`).
    """
    check_headers(operation.id, values.headers)
    try:
        written = operation.writer.write(values)
        request = Request(written.method, written.target, written.headers, written.body, address)
        environ_of(request)
    except ValueError as error:
        raise CannotCall(str(error)) from error
    return send(app, request, caller)


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
    environ, body = environ_of(request), io.BytesIO(request.body)
    connection: CallerConnection = WSGIConnection(body)
    if caller is not None:
        connection = InternalConnection(body, caller)
    status, headers = 0, list[tuple[str, str]]()

    def start_response(
        line: str, pairs: list[tuple[str, str]], error: object = None
    ) -> Callable[[bytes], object]:
        nonlocal status, headers
        status, headers = int(line.split(" ", 1)[0]), pairs
        return lambda data: None

    pieces = app.serve(environ, start_response, connection)
    return InternalResponse(status, headers, pieces)
