"""Serves the requests of a caller's connection, one after the other."""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable
from http import HTTPStatus
from time import monotonic
from typing import NamedTuple

import gevent

from engine.edge.falcon_application import Application
from engine.exchange.exchange import Response
from engine.process.loop_turn import SECONDS, await_turn
from engine.server.connection_admission import IdleConnections
from engine.server.environ import Environ, SchemeHeaders, address_fields, request_environ
from engine.server.http1.request import HeadReader, InvalidRequest, Limits, RequestHead
from engine.server.http1.response import ResponseWriter
from engine.server.large_requests.operation_calls import CallsFromSocket
from engine.server.large_requests.pass_requests import NothingPasses, Passing
from engine.server.large_requests.passed_request import PassedRequest, ReportingSocket
from engine.server.sockets.caller_socket import CallerSocket, GeventSocket
from engine.server.worker_connection import RefusedBody, WorkerConnection, read_head
from engine.values.errors import AbortConnection, AbortReason, GatewayError

_CALLER_LEFT = (errno.EPIPE, errno.ECONNRESET, errno.ENOTCONN)
TIME_TO_READ = 0.5
"""Seconds between the last bytes of a response that breaks off and the end of its connection. The
Fetch standard's body streams drop what was not read when they fail, with it the error event."""
NOTHING_PASSES = NothingPasses()
_REASONS = {414: "URI Too Long"}
"""Reason phrases of RFC 9110 that older Pythons do not have; the others are Python's."""


class HTTPSettings(NamedTuple):
    """How a worker reads requests: the limits of a head, the headers that name the scheme, and
    the environ that all requests share."""

    limits: Limits
    scheme_headers: SchemeHeaders
    environ: Environ


class ConnectionHandler:
    """Serves the connections of one listener, whose socket's address is `address`.

    `idle` holds those that wait for a request. `begin_request` counts a request, and says whether
    its connection may carry another. `passing` passes large requests to heavy workers, which know
    the listener by its `number`.
    """

    def __init__(
        self,
        application: Application,
        address: object,
        idle: IdleConnections,
        settings: HTTPSettings,
        begin_request: Callable[[], bool],
        log: logging.Logger,
        passing: Passing = NOTHING_PASSES,
        number: int = 0,
    ) -> None:
        self.idle = idle
        self._application = application
        self._serve = application.on_listener(address)
        self._settings = settings
        self._environ = {**settings.environ, **address_fields("SERVER", address)}
        self._begin_request = begin_request
        self._log = log
        self._passing = passing
        passing.sizes.presume(application.costly_operations)
        self._number = number

    def __call__(self, client: GeventSocket, address: object) -> None:
        """Serve the requests of a connection until its end, and close it."""
        try:
            sock = CallerSocket(client)
            sock.heavy_calls = CallsFromSocket(self._passing, address, self._number)
            self._guarded(sock, address, self._serve_connection)
        finally:
            self.idle.pop(client, None)
            client.close()

    def serve_passed(self, sock: ReportingSocket, request: PassedRequest) -> bool:
        """In a heavy worker: serve one request. Whether its connection may carry another."""

        def serve(sock: CallerSocket, address: object) -> bool:
            connection = WorkerConnection(sock, request.head, request.close)
            connection.internal = request.caller
            shared, trusted = self._shared(address)
            is_complete = self._respond(sock, request.head, shared, trusted, connection)
            return is_complete and connection.drain()

        return self._guarded(sock, request.address, serve)

    def _guarded(
        self, sock: CallerSocket, address: object, serve: Callable[[CallerSocket, object], bool]
    ) -> bool:
        """Call `serve`. If it raises, log and answer what can be answered, and return False."""
        try:
            sock.sock.setblocking(True)
            return serve(sock, address)
        except InvalidRequest as error:
            # The target is never logged: its query may contain a token.
            self._log.info("not a valid HTTP request: %s", error)
            self._send(sock, self._application.refuse(_bad_request(error), ip_address(address)))
        except AbortConnection as error:
            if error.reason is AbortReason.RESPONSE_BROKE_OFF:
                sock.wait_for_caller(TIME_TO_READ)
        except TimeoutError:
            self._log.debug("timeout: a caller does not read its response")
        except OSError as error:
            if error.errno not in _CALLER_LEFT:
                self._log.exception("a connection broke")
        except Exception as error:  # noqa: BLE001 - it is logged
            self._log.error("a connection failed", exc_info=error)
            self._send(sock, self._application.refuse(_failure(), ip_address(address)))
        return False

    def _shared(self, address: object) -> tuple[Environ, bool]:
        """The environ that the requests of a caller share, and whether it is a trusted proxy."""
        environ = {**self._environ, **address_fields("REMOTE", address)}
        return environ, self._settings.scheme_headers.trusts(address)

    def _serve_connection(self, sock: CallerSocket, address: object) -> bool:
        """False, when no other request follows."""
        environ, trusted = self._shared(address)
        sizes, idle, client = self._passing.sizes, self.idle, sock.sock
        reader = HeadReader(self._settings.limits)
        connection: WorkerConnection | None = None
        turn = 0.0
        while True:
            if sock.buffered and monotonic() - turn > SECONDS:
                await_turn()  # requests that came together are served without a wait for the socket
                turn = monotonic()
            idle[client] = monotonic()
            if connection is not None and not connection.drain():
                return False
            head = read_head(sock, reader)
            if head is None:
                return False
            idle.pop(client, None)
            close = not self._begin_request()
            connection = WorkerConnection(sock, head, close)
            if head.content_length is None or (
                head.content_length > sizes.lowest
                and self._is_large(head.content_length, head, environ)
            ):
                request = PassedRequest(head, sock.buffered, address, self._number, close)
                report = self._passing.pass_on(sock.sock, request)
                if report is not None:
                    if report.is_reusable:
                        sock.buffered, connection = report.rest, None
                        continue
                    if report.refusal is None:
                        return False
                    connection = RefusedBody(sock, head, close, report.refusal)
            if not self._respond(sock, head, environ, trusted, connection):
                return False

    def _is_large(self, length: int, head: RequestHead, shared: Environ) -> bool:
        """Whether a body of this length is large for the operation of the request."""
        sizes = self._passing.sizes
        if length > sizes.above:
            return True
        return length > sizes.of(self._application.operation(request_environ(shared, head)))

    def _respond(
        self,
        sock: CallerSocket,
        head: RequestHead,
        shared: Environ,
        trusted: bool,
        connection: WorkerConnection,
    ) -> bool:
        """Answer one request. Returns whether the response is complete. Raises OSError if the
        caller left, and where the connection must look broken to the caller."""
        environ = request_environ(shared, head)
        if trusted:
            self._settings.scheme_headers.apply(environ)
        try:
            self._call(environ, connection)
        except gevent.GreenletExit:
            return False
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001 - it is logged
            self._log.error("a response broke off", exc_info=error)
            if not connection.head_sent:
                self._send(sock, self._application.fail())
            return False
        return True

    def _call(self, environ: Environ, connection: WorkerConnection) -> None:
        """Call the application, and send what it yields (PEP 3333)."""
        pieces = self._serve(environ, connection.start_response, connection)
        try:
            for piece in pieces:
                connection.send(piece)
            connection.end_response()
        finally:
            close = getattr(pieces, "close", None)  # WSGI: an iterable may have one
            if close is not None:
                close()

    def _send(self, sock: CallerSocket, response: Response) -> None:
        try:
            sock.send(closing(response))
        except OSError as error:
            self._log.debug("the caller had left: %s", error)


def closing(response: Response) -> bytes:
    """A complete response after which the connection is closed."""
    assert isinstance(response.body, bytes)
    writer = ResponseWriter("", 1, close=True)
    writer.start(f"{response.status} {_reason(response.status)}", response.headers)
    return writer.write(response.body) + writer.end()


def ip_address(address: object) -> str:
    """The IP address of a socket's address; "" of a Unix socket."""
    return str(address[0]) if isinstance(address, tuple) else ""


def _reason(status: int) -> str:
    return _REASONS.get(status) or HTTPStatus(status).phrase


def _bad_request(error: InvalidRequest) -> GatewayError:
    message = f"The request is not valid HTTP/1.1: {error}."
    return GatewayError(error.status, "bad_request", message)


def _failure() -> GatewayError:
    return GatewayError(500, "internal_error", "The gateway failed on this request.")
