"""Falcon <-> Exchange: a route's handler as a Falcon responder, and errors as the dialect's own.

Under WSGI a responder returns before its body is sent; what has to happen at the end hangs on
`exchange.on_end`, which `engine.edge.response` runs, whether the body was sent whole or not.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import falcon
import gevent
import orjson
from gevent import GreenletExit

from engine.dialects import Dialect, default
from engine.edge.cors import NOBODY, Cors
from engine.edge.model_list import speaking
from engine.edge.request_body import RequestBodyReader
from engine.edge.response import Sent, has_body, send
from engine.exchange.caller_connection import CallerConnection
from engine.exchange.exchange import Exchange, Handler, Observer, Response, new_request_id
from engine.exchange.record import Outcome, RequestRecord
from engine.values.errors import (
    AbortConnection,
    AbortReason,
    GatewayError,
    Malformed,
    shutting_down,
)

Responder = Callable[..., None]
_PAGE_BODY = 65_536
log = logging.getLogger("modelway")

_LOOK = 0.02
_OWN_CODES = {500: "internal_error", 503: "too_many_connections"}
"""What a server answers by itself; anything else is `bad_request`."""
_ABORT_OUTCOMES = {
    AbortReason.CALLER_LEFT: Outcome.CALLER_LEFT,
    AbortReason.RESPONSE_BROKE_OFF: Outcome.UPSTREAM_CUT,
    AbortReason.SHUTDOWN: Outcome.SHUTDOWN,
}


class RequestLifecycle:
    """What every endpoint shares: the limits of a request's body, CORS, and the observers of how
    exchanges begin (`begin`) and end.

    `clock` gives Unix seconds.
    """

    def __init__(
        self,
        max_body: int,
        body_timeout: float,
        observers: Sequence[Observer] = (),
        clock: Callable[[], float] = time.time,
        begin: Observer | None = None,
        cors: Cors = NOBODY,
        request_timeout: float = 300.0,
    ) -> None:
        self.max_body = max_body
        self.body_timeout = body_timeout
        self.request_timeout = request_timeout
        self.cors = cors
        self._open: dict[Exchange, Any] = {}  # and the greenlet of each
        self._interrupted = False
        self._observers = observers
        self._clock = clock
        self._begin = begin

    @property
    def open(self) -> int:
        """How many exchanges are under way."""
        return len(self._open)

    def interrupt(self) -> None:
        """The worker is about to end: end each exchange that is still under way.

        A request that waits is answered with 503, a stream gets its dialect's error event and is
        cut; the outcome of each is `shutdown`. Exchanges that are about to end, and WebSocket
        sessions, which `Sessions` ends, are left alone. The second call cuts whatever is still
        open. Returns at once.
        """
        cut, self._interrupted = self._interrupted, True
        run = gevent.get_hub().loop.run_callback
        for exchange in self._open:
            run(self._interrupt, exchange, cut)

    def _interrupt(self, exchange: Exchange, cut: bool) -> None:
        """From the event loop, where every greenlet waits: wake that of an open exchange."""
        greenlet = self._open.get(exchange)
        ending = bool(exchange.record.outcome) or exchange.traffic is not None
        if greenlet is not None and (cut or not ending):
            greenlet.throw(GreenletExit)

    def drain(self, seconds: float) -> None:
        """Wait until no exchange is under way, for at most so long."""
        end = time.monotonic() + seconds
        while self._open and time.monotonic() < end:
            gevent.sleep(_LOOK)

    def enter(self, exchange: Exchange) -> None:
        """An exchange begins. At its end, after everything else, each observer is called once."""
        kept = exchange.record
        kept.time, kept.start = self._clock(), time.monotonic()
        self._open[exchange] = gevent.getcurrent()
        exchange.on_end.append(partial(self._leave, exchange))
        if self._begin is not None:
            try:
                self._begin(exchange)
            except Exception:
                log.exception("request %s: its beginning was not noted", exchange.request_id)

    def _leave(self, exchange: Exchange) -> None:
        self._open.pop(exchange, None)
        if self._interrupted and not exchange.record.outcome:
            exchange.record.outcome = Outcome.SHUTDOWN
        exchange.record.close(time.monotonic())
        for observer in self._observers:
            try:
                observer(exchange)
            except Exception:
                log.exception("request %s: its end was not noted", exchange.request_id)

    def endpoint(
        self, handler: Handler, dialects: Sequence[Dialect], operation: str = ""
    ) -> Responder:
        """A responder for a handler. Its errors speak the first of `dialects` that claims the
        request, the last one otherwise. `operation` is "" where the request finds none."""

        def respond(req: falcon.Request, resp: Sent, mount: str, variables: Any) -> None:
            environ = req.env
            path, _, query = raw_target(environ).partition("?")
            exchange = Exchange(
                req.method, path, query, environ, new_request_id(), mount, variables
            )
            connection: CallerConnection = environ["wsgi.input"]  # see Application.serve
            exchange.connection = connection
            body = RequestBodyReader(
                environ, connection, self.body_timeout, exchange.record, self.request_timeout
            )
            exchange.operation = operation
            exchange.max_body = self.max_body
            exchange.receive = body.receive
            # What says the dialect is looked at before tokens are taken out of the request.
            exchange.dialect = dialects[0] if len(dialects) == 1 else speaking(exchange, dialects)
            self.enter(exchange)
            try:
                self._respond(resp, exchange, body, handler)
            except BaseException:
                exchange.end()
                raise

        return respond

    def _respond(
        self, resp: Sent, exchange: Exchange, body: RequestBodyReader, handler: Handler
    ) -> None:
        """Send the handler's answer, or a 500 where that fails. Raises AbortConnection."""
        connection = exchange.connection
        after: list[Callable[[], None]] = [partial(connection.set_timeout, None)]
        try:
            response = _answer(handler, exchange, body)
            if more := self.cors.headers(exchange):
                response.headers = [*response.headers, *more]
            steps = after
            if body.is_left() and connection.close_after() and has_body(exchange, response):
                steps = [*after, connection.linger]
            connection.set_timeout(self.body_timeout)
            send(resp, exchange, response, steps)
        except AbortConnection:
            raise
        except Exception:
            log.exception("request %s failed", exchange.request_id)
            send(resp, exchange, refusal(_internal(exchange), exchange), after)

    def page(self, handler: Handler) -> Responder:
        """A responder for a page of the gateway's own, whose exchanges no observer sees.

        Pages need no body. One that comes is read all the same: where a malformed one ends, nobody
        can tell, so it is refused and the connection closed.
        """

        def bodiless(exchange: Exchange) -> Response:
            exchange.receive(_PAGE_BODY).close()
            return handler(exchange)

        unobserved = RequestLifecycle(
            self.max_body, self.body_timeout, request_timeout=self.request_timeout
        )
        return unobserved.endpoint(bodiless, [default()])

    def malformed(self, name: str, status: int, address: str) -> None:
        """Note what the server answered by itself as `name`: no valid request, or no room."""
        exchange = Exchange("", "", "", {"REMOTE_ADDR": address}, name)
        self.enter(exchange)
        exchange.record.end(
            status, Outcome.of_status(status), _OWN_CODES.get(status, "bad_request")
        )
        exchange.end()

    def unexpected(self, req: falcon.Request, resp: Sent, error: Exception, params: Any) -> None:
        """What fails outside a handler: Falcon's own refusals, and a connection to be cut."""
        if isinstance(error, AbortConnection):
            raise AbortConnection(
                error.reason, str(error.strerror)
            ) from None  # Falcon's frames hold the first
        status = error.status_code if isinstance(error, falcon.HTTPError) else 500
        exchange = Exchange(req.method, "", "", req.env, new_request_id())
        exchange.dialect = default()
        self.enter(exchange)
        code, message = "bad_request", "The request is not valid."
        if status == 500:
            log.error("request %s failed", exchange.request_id, exc_info=error)
            code, message = "internal_error", "The gateway failed on this request."
        try:
            send(resp, exchange, refusal(GatewayError(status, code, message), exchange))
        except BaseException:
            exchange.end()
            raise


def raw_target(environ: dict[str, Any]) -> str:
    """The request target as it was sent, without scheme and host where it had them."""
    target = str(environ.get("RAW_URI") or environ.get("PATH_INFO", "/"))
    if not target.startswith("/") and "://" in target:
        target = "/" + target.partition("://")[2].partition("/")[2]
    return target


def _answer(handler: Handler, exchange: Exchange, body: RequestBodyReader) -> Response:
    """The handler's response, or the error that it raised as one; how it ends is in the account."""
    try:
        body.check()
        return _noted(handler(exchange), exchange.record)
    except GatewayError as error:
        return refusal(error, exchange)
    except Malformed as error:
        return refusal(GatewayError(400, "invalid_value", str(error)), exchange)
    except AbortConnection as error:
        record = exchange.record
        if error.reason is AbortReason.SESSION_ENDED:
            traffic = exchange.traffic
            record.end(101, Outcome.COMPLETE if traffic is None else traffic.outcome)
        elif not record.outcome:
            record.end(499, _ABORT_OUTCOMES[error.reason])
        exchange.end()
        raise
    except GreenletExit:  # the worker ends
        if exchange.traffic is not None:
            exchange.record.end(101, Outcome.SHUTDOWN)
            raise
        exchange.connection.close_after()
        response = refusal(shutting_down(), exchange)
        exchange.record.outcome = Outcome.SHUTDOWN
        return response
    except Exception:
        log.exception("request %s failed", exchange.request_id)
        return refusal(_internal(exchange), exchange)
    except BaseException:  # the process ends at once
        exchange.record.end(500, Outcome.FAILED, "internal_error")
        exchange.end()
        raise


def _noted(response: Response, kept: RequestRecord) -> Response:
    if isinstance(response.body, bytes):
        kept.end(response.status, Outcome.of_status(response.status))
    else:
        kept.status = response.status  # how it ends, whoever makes the body will know
    return response


def _internal(exchange: Exchange) -> GatewayError:
    words = f"The gateway failed on this request. Its operator finds it as {exchange.request_id}."
    return GatewayError(500, "internal_error", words)


def refusal(error: GatewayError, exchange: Exchange) -> Response:
    """An error as the dialect's error object, always `application/json`."""
    exchange.record.end(error.status, Outcome.of_status(error.status), error.code)
    body = orjson.dumps(exchange.dialect.error(error, exchange.request_id))
    return Response(error.status, [("content-type", "application/json"), *error.headers], body)
