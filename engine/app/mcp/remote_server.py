"""One MCP server behind the gateway, in one worker: sends it messages, in a session for each caller
where it wants one. `remote_lists.py` has what it lists.

A call of a tool passes the stages of the route of its upstream, and is one row of the ledger and
one line of the log. What else is sent (`initialize`, lists) is none: it is the gateway's own.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

import gevent
import orjson
from msgspec import Struct

from engine.app.routes.last_handler import forward_of
from engine.app.routes.route_handler import stages_of
from engine.app.routes.worker_parts import Parts
from engine.app.services.telemetry import version
from engine.edge.falcon_responder import answer_errors
from engine.exchange.caller_connection import InternalCaller, InternalConnection
from engine.exchange.environ_headers import environ_key
from engine.exchange.exchange import Content, Exchange, Response, compose, new_request_id
from engine.exchange.internal_request import HERE, Request, environ_of
from engine.exchange.request_body import Body, ReceivedBody
from engine.exchange.request_record import McpMessage
from engine.mcp.protocol.results import MAX_RESULT, Answer, ToolResult, result_of, text_result
from engine.mcp.protocol.server import ToolCall
from engine.mcp.remote.client import (
    RemoteAnswer,
    RemoteClient,
    RemoteMessage,
    RemoteSession,
    SessionEnded,
)
from engine.mcp.remote.listing import RemoteTool
from engine.mcp.remote.replies import RemoteError, ReplyReader
from engine.mcp.remote.results import remote_result
from engine.mcp.remote.sessions import RemoteSessions
from engine.plan.plan import ToolUpstream
from engine.plan.tool_servers import SESSION
from engine.values.errors import AbortConnection, GatewayError
from engine.values.media_types import essence

_JSON = "application/json"
log = logging.getLogger("modelway")
_MAX_ERROR = 65_536
_END_SECONDS = 5.0
"""How long the end of a session may take, for which nobody waits."""
_AS_CALLED = frozenset({429})
"""Statuses of a server that are the caller's as well."""


class RemoteServer:
    """A server that a worker calls."""

    def __init__(self, upstream: ToolUpstream, parts: Parts) -> None:
        route = upstream.route
        self.upstream = upstream
        self._client = RemoteClient("modelway", version())
        self._forward = forward_of(route, route.by_model, parts)
        outer = [parts.lifecycle.observe, answer_errors]
        self._stages = [*outer, *stages_of(route, parts)]
        self._max_body = parts.plan.config.server.max_body
        self._sessions = RemoteSessions()
        self._is_modern: bool | None = None
        self._environ_keys = [environ_key(name) for name in upstream.forwarded]

    def forwarded(self, environ: Mapping[str, Any]) -> dict[str, Any]:
        """The headers of a caller that are passed on, as in the environ."""
        return {key: environ[key] for key in self._environ_keys if key in environ}

    def call(
        self,
        tool: RemoteTool,
        arguments: Mapping[str, Any],
        outer: Exchange,
        caller: InternalCaller,
        address: str,
    ) -> ToolResult:
        """Call a tool as `caller`, who is at this IP address, for the message of an exchange.
        Raises AbortConnection where the connection of a caller would be cut, and if the caller
        disconnects."""
        results: list[ToolResult] = []

        def last(exchange: Exchange) -> Response:
            results.append(self._result(exchange, tool, arguments))
            body = orjson.dumps({"content": list(results[0].content)})
            return Response(200, [("content-type", _JSON)], body)

        exchange = self._exchange(
            {**outer.environ, "REMOTE_ADDR": address}, caller, outer.request_id
        )
        exchange.operation = tool.operation
        exchange.record.mcp = caller.mcp
        body = Body(orjson.dumps(arguments))
        exchange.body_reader = ReceivedBody(body, self._max_body)
        exchange.content = Content(_JSON, arguments)
        try:
            response = compose(self._stages, last)(exchange)
            assert isinstance(response.body, bytes)
            exchange.record.bytes_out = len(response.body)
        finally:
            exchange.end()
        if response.status == 200 and results:
            return results[0]
        return result_of(Answer(response.status, response.headers, response.body), tool.name)

    def pages(self, environ: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """The pages of the server's list, for callers with these headers. Raises RemoteError,
        GatewayError and AbortConnection."""
        key = ("list", self._identity(environ))
        with self._side(environ) as exchange:

            def send(message: RemoteMessage) -> RemoteAnswer:
                return self._send(exchange, message)

            try:
                yield from self._client.tools(self._session(key, exchange), send)
            except SessionEnded:
                self._sessions.drop(key)
                yield from self._client.tools(self._session(key, exchange), send)

    def forget(self) -> None:
        """Forget which revision the server speaks: it did not answer as it should."""
        self._is_modern = None

    def close(self) -> None:
        """End all sessions, for at most a short time."""
        ends = [gevent.spawn(self._end, session) for session in self._sessions.take_all()]
        gevent.joinall(ends, timeout=_END_SECONDS)

    def _result(
        self, exchange: Exchange, tool: RemoteTool, arguments: Mapping[str, Any]
    ) -> ToolResult:
        """The result of a call. Raises GatewayError for an HTTP status that is no answer."""
        key = (exchange.token, self._identity(exchange.environ))
        for is_last in (False, True):
            session = self._session_or_error(key, exchange)
            message = self._client.call(session, tool.remote, arguments, MAX_RESULT)
            answer = self._send(exchange, message)
            try:
                return remote_result(self._client.result_of(session, answer))
            except SessionEnded as error:
                self._sessions.drop(key)
                if is_last:
                    raise _bad_gateway(str(error)) from error
            except RemoteError as error:
                exchange.record.code = "tool_error"
                if error.code == 0 and answer.status >= 300:
                    raise _of_status(answer.status, self.upstream.name) from error
                text = f"{error}\n{error.data}" if error.data else str(error)
                return text_result(text, is_error=True)
        raise AssertionError("the last attempt returns or raises")

    def _session_or_error(self, key: Hashable, exchange: Exchange) -> RemoteSession:
        """The session of a caller. Raises GatewayError if it cannot be begun."""
        session = self._sessions.get(key, time.monotonic())
        if session is not None:
            return session
        with self._side(exchange.environ, exchange) as side:
            try:
                return self._session(key, side)
            except RemoteError as error:
                self.forget()
                raise _bad_gateway(str(error)) from error

    def _session(self, key: Hashable, exchange: Exchange) -> RemoteSession:
        """The session of this key. Raises RemoteError."""
        if self._is_modern:
            return self._client.modern
        now = time.monotonic()
        earlier = self._sessions.get(key, now)
        if earlier is not None:
            return earlier
        session = self._client.open(
            lambda message: self._send(exchange, message), is_modern=self._is_modern
        )
        self._is_modern = session.is_modern
        if not session.is_modern:
            for old_session in self._sessions.put(key, session, time.monotonic()):
                gevent.spawn(self._end, old_session)
        return session

    def _end(self, session: RemoteSession) -> None:
        """Tell the server that a session is over. Whether it hears that is of no account."""
        if not session.id:
            return
        with self._side({}, method="DELETE") as exchange:
            headers = [(SESSION, session.id), ("mcp-protocol-version", session.revision)]
            try:
                with gevent.Timeout(_END_SECONDS):
                    self._send(exchange, RemoteMessage("", headers, b"", None))
            except (GatewayError, AbortConnection, gevent.Timeout) as error:
                log.info("a session with '%s' was not ended: %s", self.upstream.name, error)

    def _identity(self, environ: Mapping[str, Any]) -> str:
        """Equal for callers whose headers that are passed on are equal."""
        headers = self.forwarded(environ)
        return sha256(repr(headers).encode()).hexdigest() if headers else ""

    @contextmanager
    def _side(
        self, environ: Mapping[str, Any], of: Exchange | None = None, method: str = "POST"
    ) -> Iterator[Exchange]:
        """An exchange for messages of the gateway's own, with the headers of a caller."""
        caller, request_id = InternalCaller(None), new_request_id()
        if of is not None:
            fileno = of.connection.fileno()
            caller, request_id = InternalCaller(of.caller, of.token, fileno), of.request_id
        exchange = self._exchange(environ, caller, request_id, method)
        exchange.caller = caller.caller
        try:
            yield exchange
        finally:
            exchange.end()

    def _exchange(
        self,
        environ: Mapping[str, Any],
        caller: InternalCaller,
        request_id: str,
        method: str = "POST",
    ) -> Exchange:
        upstream = self.upstream
        client = str(environ.get("REMOTE_ADDR") or HERE)
        inner = environ_of(Request(method, upstream.path, [("content-type", _JSON)], b"", client))
        inner |= self.forwarded(environ)
        return Exchange(
            *(method, upstream.path, upstream.query, inner),
            *(upstream.route.dialects[-1], request_id, "/"),
            connection=InternalConnection(b"", caller),
        )

    def _send(self, exchange: Exchange, message: RemoteMessage) -> RemoteAnswer:
        """Send a message with the request of an exchange. Raises GatewayError and
        AbortConnection."""
        environ = {
            key: value for key, value in exchange.environ.items() if not key.startswith("HTTP_MCP_")
        }
        exchange.environ = environ | {_key(name): value for name, value in message.headers}
        exchange.body = Body(message.body)
        response = self._forward(exchange)
        headers = {name.lower(): value for name, value in response.headers}
        pieces = response.body
        try:
            answer = _read(response.status, headers, pieces, message)
        finally:
            close = getattr(pieces, "close", None)  # WSGI: an iterable may have one
            if close is not None:
                close()
        return answer


class RemoteCall(Struct, frozen=True):
    """A call of a tool of another server, for a caller at this IP address."""

    call: ToolCall
    tool: RemoteTool
    server: RemoteServer
    message: McpMessage
    address: str


def _read(
    status: int, headers: Mapping[str, str], body: Any, message: RemoteMessage
) -> RemoteAnswer:
    """The answer of a server, of which no more is received than it needs."""
    session = headers.get(SESSION, "")
    if message.id is None:
        return RemoteAnswer(status, session=session)
    is_answer = status < 300
    media_type = essence(headers.get("content-type", "")) if is_answer else _JSON
    reader = ReplyReader(message.id, media_type, message.most if is_answer else _MAX_ERROR)
    try:
        for piece in [body] if isinstance(body, bytes) else body:
            if reader.feed(piece):
                break
        result = reader.result()
    except RemoteError as error:
        failure = error if is_answer or error.code else None
        return RemoteAnswer(status, error=failure, session=session)
    return RemoteAnswer(status, result if is_answer else None, session=session)


def _key(header: str) -> str:
    return "CONTENT_TYPE" if header == "content-type" else environ_key(header)


def _of_status(status: int, upstream: str) -> GatewayError:
    text = f"The MCP server '{upstream}' answered with HTTP status {status}."
    if status in _AS_CALLED:
        return GatewayError(status, "upstream_rate_limited", text)
    return GatewayError(502, "upstream_error", text)


def _bad_gateway(text: str) -> GatewayError:
    return GatewayError(502, "upstream_error", text)
