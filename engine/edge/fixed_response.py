"""The handler of a route with `respond`: the same response to every request."""

from __future__ import annotations

from http import HTTPStatus

import orjson

from engine.config.routes import Respond
from engine.exchange.exchange import Exchange, Handler, Response
from engine.values.errors import GatewayError


def route_response(respond: Respond) -> Handler:
    """The handler that gives this response. An error without a body of its own is raised, so that
    it has the form of the caller's dialect."""
    headers = [*respond.headers]
    if respond.status >= 400 and not respond.has_body:

        def refuse(exchange: Exchange) -> Response:
            message = f"This gateway answers {exchange.operation} with {_text(respond.status)}."
            raise GatewayError(respond.status, "operation_unavailable", message, headers=headers)

        return refuse
    kind, body = _encoded(respond)
    if respond.has_body and "content-type" not in dict(headers):
        headers.append(("content-type", kind))

    def answer(exchange: Exchange) -> Response:
        return Response(respond.status, [*headers], body)

    return answer


def _encoded(respond: Respond) -> tuple[str, bytes]:
    """The media type of the body if the config names none, and its bytes."""
    if not respond.has_body:
        return "", b""
    if isinstance(respond.body, str):
        return "text/plain; charset=utf-8", respond.body.encode()
    return "application/json", orjson.dumps(respond.body)


def _text(status: int) -> str:
    """The status with its phrase (RFC 9110 15.1), as far as it has one."""
    phrases = {each.value: each.phrase for each in HTTPStatus}
    return f"{status} {phrases[status]}" if status in phrases else str(status)
