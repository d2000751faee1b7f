"""Sends requests to an application from inside of its process, as a caller: `send`.

Such a request runs the whole stack of its route, as one of a socket does: its limits, policies,
ledger entry, metrics and log line are those of the caller that it names. No header can make one of
a request from outside: the caller is a value of the connection, which only this module makes with
one (`InternalConnection`).
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
from engine.exchange.internal_request import Request, environ_of
from engine.plan.route import Plan, Route
from engine.relay.request_headers import NEVER_SENT
from engine.spec.request_writer import RequestWriter

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
