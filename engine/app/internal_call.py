"""Calls operations of an application from inside of its process: `call`.

A call runs the whole stack of its route, as a request of a socket does: its limits, policies,
ledger entry, metrics and log line are those of the caller that it names. No header can make such a
call of a request from outside: the caller is a value of the connection, which only this module
makes with one (`InternalConnection`).
"""

from __future__ import annotations

import io
from collections.abc import Iterable

from msgspec import Struct

from engine.edge.inside_call import InternalResponse, respond
from engine.edge.router import Application
from engine.exchange.caller_connection import (
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


class CallableOperation(Struct, frozen=True):
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
        parts = operation.writer.write(values)
        request = Request(parts.method, parts.target, parts.headers, parts.body, address)
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
    environ = environ_of(request)
    if caller is None:
        return respond(app, environ, WSGIConnection(io.BytesIO(request.body)))
    return respond(app, environ, InternalConnection(request.body, caller))
