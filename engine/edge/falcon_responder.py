"""Falcon <-> Exchange: a handler as a Falcon responder, and errors in the caller's dialect.

Under WSGI a responder returns before its body is sent. Callbacks for the end of a request are in
`exchange.on_end`; `engine.edge.send_response` runs them even if the body was not sent completely.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import falcon
import orjson
from gevent import GreenletExit

from engine.dialects import Dialect, default
from engine.edge.body_reader import RequestBodyReader
from engine.edge.send_response import common_headers, has_body, send
from engine.exchange.caller_connection import CallerConnection
from engine.exchange.exchange import NO_VARIABLES, Exchange, Handler, Response, new_request_id
from engine.exchange.outcome import Outcome, interruption
from engine.values.errors import (
    AbortConnection,
    AbortReason,
    GatewayError,
    Malformed,
    without_frames,
)

Responder = Callable[..., None]
log = logging.getLogger("modelway")

_COMPLETE = Outcome.COMPLETE  # looking up a member of an enum is slow
_PAGE_BODY = 65_536
_ABORT_OUTCOMES = {
    AbortReason.CALLER_LEFT: Outcome.CALLER_LEFT,
    AbortReason.RESPONSE_BROKE_OFF: Outcome.UPSTREAM_CUT,
    AbortReason.SHUTDOWN: Outcome.SHUTDOWN,
    AbortReason.REVOKED: Outcome.REVOKED,
}


class Responders:
    """Makes the Falcon responders of an application.

    `max_body` is in bytes. `body_timeout` and `request_timeout`, in seconds, are `timeout` and
    `total` of RequestBodyReader.
    """

    def __init__(self, max_body: int, body_timeout: float, request_timeout: float = 300.0) -> None:
        self._max_body = max_body
        self._body_timeout = body_timeout
        self._request_timeout = request_timeout

    def responder(self, handler: Handler, dialects: Sequence[Dialect]) -> Responder:
        """A responder for a handler. The caller's dialect is the first of `dialects` that claims
        the request, else the last one. The router passes what depends on the path; `operation` is
        "" if no operation matches."""
        only = dialects[0] if len(dialects) == 1 else None

        def respond(
            req: falcon.Request,
            resp: falcon.Response,
            path: str,
            query: str,
            mount: str = "",
            variables: Mapping[str, tuple[int, int]] = NO_VARIABLES,
            operation: str = "",
        ) -> None:
            environ = req.env
            connection: CallerConnection = environ["wsgi.input"]  # see Application.serve
            # Choose the dialect before a stage removes the token, which may tell the dialect.
            dialect = only or dialect_of(environ, query, dialects)
            request_id = new_request_id()
            exchange = Exchange(
                req.method, path, query, environ, dialect, request_id, mount, variables, connection
            )
            body = RequestBodyReader(
                environ,
                connection,
                self._max_body,
                self._body_timeout,
                exchange.record,
                self._request_timeout,
            )
            exchange.operation = operation
            exchange.body_reader = body
            if connection.internal is not None:
                exchange.record.mcp = connection.internal.mcp
                exchange.record.is_copy = connection.internal.is_copy
            try:
                self._respond(resp, exchange, body, handler)
            except BaseException:
                exchange.end()
                raise

        return respond

    def _respond(
        self, resp: falcon.Response, exchange: Exchange, body: RequestBodyReader, handler: Handler
    ) -> None:
        """Send the handler's response, or a 500 if that fails. Raises AbortConnection."""
        connection = exchange.connection
        connection.set_timeout(self._body_timeout)  # until the response is closed
        try:
            response = handler(exchange)
            unread = body.is_left() and connection.close_after()
            lingers = unread and has_body(exchange, response)
            send(resp, exchange, response, linger=body.rest(exchange) if lingers else 0)
        except AbortConnection:
            raise
        except Exception:
            log.exception("request %s failed", exchange.request_id)
            for name in resp.headers:
                resp.delete_header(name)  # from the response that could not be sent
            send(resp, exchange, refusal(_internal(exchange), exchange))


def answer_errors(exchange: Exchange, following: Handler) -> Response:
    """A stage that turns errors into responses in the caller's dialect and records the outcome.

    It lets through only AbortConnection and exceptions that end the process, after it has ended the
    exchange.
    """
    try:
        response = following(exchange)
        record = exchange.record
        record.status = response.status
        if isinstance(response.body, bytes):  # else its iterator sets the outcome
            record.outcome = _COMPLETE  # until the record is closed, which looks at the status
        return response
    except GatewayError as error:
        return refusal(without_frames(error), exchange)
    except Malformed as error:
        return refusal(GatewayError(400, "invalid_value", str(error)), exchange)
    except AbortConnection as error:
        _record_abort(exchange, error.reason)
        exchange.end()
        raise
    except GreenletExit as cause:  # the worker ends, or the token does
        outcome, _, refused = interruption(cause)
        if exchange.record.traffic is not None:
            exchange.record.end(101, outcome)
            raise
        exchange.connection.close_after()
        response = refusal(refused, exchange)
        exchange.record.outcome = outcome
        return response
    except Exception:
        log.exception("request %s failed", exchange.request_id)
        return refusal(_internal(exchange), exchange)
    except BaseException:  # the process ends at once
        exchange.record.end(500, Outcome.FAILED, "internal_error")
        exchange.end()
        raise


def discard_body(exchange: Exchange, following: Handler) -> Response:
    """A stage for pages, which need no request body: it discards a small one, refuses a larger.

    It also refuses a malformed body, as its end is unknown.
    """
    exchange.body_reader.receive(_PAGE_BODY).close()
    return following(exchange)


def dialect_of(environ: Mapping[str, Any], query: str, dialects: Sequence[Dialect]) -> Dialect:
    """The dialect of a request on a path that may belong to several."""
    for dialect in dialects[:-1]:
        if dialect.claims(environ, query):
            return dialect
    return dialects[-1]


def refusal(error: GatewayError, exchange: Exchange) -> Response:
    """The response with the error object of the caller's dialect, always `application/json`."""
    exchange.record.end(error.status, Outcome.of_status(error.status), error.code)
    body = orjson.dumps(exchange.dialect.error(error, exchange.request_id))
    return Response(error.status, [("content-type", "application/json"), *error.headers], body)


def server_response(error: GatewayError, address: str = "") -> tuple[Exchange, Response]:
    """A response that the server sends without Falcon, with all its headers, and an exchange for
    the record of the request."""
    exchange = Exchange("", "", "", {"REMOTE_ADDR": address}, default(), new_request_id())
    response = refusal(error, exchange)
    assert isinstance(response.body, bytes)
    length = ("content-length", str(len(response.body)))
    response.headers += [*common_headers(exchange).items(), length]
    return exchange, response


def _record_abort(exchange: Exchange, reason: AbortReason) -> None:
    record = exchange.record
    if reason is AbortReason.SESSION_ENDED:
        traffic = exchange.record.traffic
        if record.status < 400:  # else the session was refused
            record.end(101, Outcome.COMPLETE if traffic is None else traffic.outcome)
    elif not record.outcome:
        record.end(499, _ABORT_OUTCOMES[reason])


def _internal(exchange: Exchange) -> GatewayError:
    message = f"The gateway failed on this request. Tell its operator the id {exchange.request_id}."
    return GatewayError(500, "internal_error", message)
