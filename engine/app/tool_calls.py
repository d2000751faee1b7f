"""Answers the messages of an MCP server: what calls a tool calls its operation, from inside, as the
caller of the message."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from engine.app.internal_call import (
    CallableOperation,
    CannotCall,
    InternalResponse,
    request_of,
    send,
)
from engine.config.server import Server as ServerConfig
from engine.edge.gateway_origin import base_of
from engine.edge.lifecycle import RequestLifecycle
from engine.edge.router import Application
from engine.exchange.caller_connection import InternalCaller
from engine.exchange.exchange import Content, Exchange, Handler, Response
from engine.exchange.record import McpMessage
from engine.exchange.request import Request as HTTPRequest
from engine.tools.invalid_arguments import InvalidArguments
from engine.tools.protocol.results import MAX_RESULT, Answer, ToolResult, result_of, text_result
from engine.tools.protocol.revisions import Head
from engine.tools.protocol.server import Refusal, Reply, Request, Server, ToolCall
from engine.tools.tool import Tool
from engine.values.client_address import Network, caller_address
from engine.values.errors import AbortConnection, AbortReason

_JSON = "application/json"
_TRACE = (("traceparent", "HTTP_TRACEPARENT"), ("tracestate", "HTTP_TRACESTATE"))


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A call whose arguments are the request `sent` to its operation."""

    call: ToolCall
    sent: HTTPRequest
    message: McpMessage


class ToolCalls:
    """The last stages of an MCP server. `operation` gives the operation of a tool, to call it;
    `proxies` are those whose X-Forwarded-For is trusted."""

    def __init__(
        self,
        app: Application,
        server: Server,
        name: str,
        config: ServerConfig,
        lifecycle: RequestLifecycle,
        proxies: Sequence[Network],
        operation: Callable[[Tool], CallableOperation],
    ) -> None:
        self._app = app
        self._server = server
        self._name = name
        self._config = config
        self._lifecycle = lifecycle
        self._proxies = proxies
        self._operation = operation
        self._operations: dict[str, CallableOperation] = {}

    def prepare(self, exchange: Exchange, following: Handler) -> Response:
        """A stage that reads the message, and writes the request of the operation that it calls."""
        body = exchange.body = exchange.body_reader.receive()
        if body.in_memory is None:
            exchange.on_end.append(body.close)
        address = caller_address(exchange.environ, self._proxies)
        exchange.content = Content(_JSON, self._prepared(exchange, bytes(body.buffer), address))
        return following(exchange)

    def handle(self, exchange: Exchange) -> Response:
        """The last handler: the answer to the message."""
        prepared = exchange.content.value
        if isinstance(prepared, PreparedCall):
            reply = self._call(exchange, prepared)
        else:
            assert isinstance(prepared, Reply)
            reply = prepared
            exchange.record.code = reply.code
        if not reply.body:
            return Response(reply.status, [])
        return Response(reply.status, [("content-type", _JSON)], reply.body)

    def _prepared(self, exchange: Exchange, body: bytes, address: str) -> Reply | PreparedCall:
        head, record = _head(exchange.environ), exchange.record
        try:
            request = self._server.read(head, body)
        except Refusal as refusal:
            if (refused := refusal.request) is not None:
                record.mcp = self._message(refused, "", exchange, address)
            else:
                record.mcp = McpMessage(self._name)
            return refusal.reply
        answer = self._server.answer(request, exchange.caller)
        if isinstance(answer, ToolCall):
            message = self._message(request, answer.tool.name, exchange, address)
            prepared = self._prepared_call(answer, message, exchange, address)
            if isinstance(prepared, PreparedCall):
                return prepared
            answer = prepared
        else:
            message = self._message(request, "", exchange, address)
            if request.cancels is not None and not request.is_modern:
                self._cancel(_key(exchange, address, request.cancels))
        record.mcp = message
        return answer

    def _prepared_call(
        self, call: ToolCall, message: McpMessage, exchange: Exchange, address: str
    ) -> Reply | PreparedCall:
        """The call with its request, or the error for arguments that are none."""
        try:
            values = call.tool.values(call.arguments)
            sent = request_of(self._operation_of(call.tool), values, address)
        except (InvalidArguments, CannotCall) as error:
            reply = self._server.reply(call.request, text_result(str(error), is_error=True))
            return reply._replace(code="invalid_arguments")
        trace = [(name, v) for name, key in _TRACE if (v := exchange.environ.get(key)) is not None]
        if trace:
            sent = replace(sent, headers=(*sent.headers, *trace))
        return PreparedCall(call, sent, message)

    def _operation_of(self, tool: Tool) -> CallableOperation:
        operation = self._operations.get(tool.name)
        if operation is None:
            operation = self._operations[tool.name] = self._operation(tool)
        return operation

    def _message(self, request: Request, tool: str, exchange: Exchange, address: str) -> McpMessage:
        """What the log and the metrics say of a message."""
        key = _key(exchange, address, request.message.id)
        return McpMessage(self._name, request.method, tool, request.revision, request.client, key)

    def _cancel(self, key: object) -> None:
        """Cancel the call of this key, if this worker has exactly one."""
        calls = [
            exchange
            for exchange in self._lifecycle.open_exchanges()
            if (mcp := exchange.record.mcp) is not None
            and (mcp.key, mcp.server) == (key, self._name)
        ]
        if len(calls) == 1:
            self._lifecycle.cancel(calls[0])

    def _call(self, exchange: Exchange, prepared: PreparedCall) -> Reply:
        """The answer to a call. Raises AbortConnection if the caller has left."""
        call, connection = prepared.call, exchange.connection
        caller = InternalCaller(
            exchange.caller, exchange.token, connection.fileno(), prepared.message
        )
        try:
            with closing(send(self._app, prepared.sent, caller)) as response:
                answer = self._answer(exchange, prepared, response)
        except AbortConnection as error:
            if error.reason is AbortReason.CALLER_LEFT:
                raise
            result = text_result(f"The answer broke off: {error.strerror}", is_error=True)
        else:
            result = self._result(call.tool, answer)
        return self._server.reply(call.request, result)

    def _result(self, tool: Tool, answer: Answer) -> ToolResult:
        return result_of(answer, tool.name, needs_structure=tool.output_schema is not None)

    def _answer(
        self, exchange: Exchange, prepared: PreparedCall, response: InternalResponse
    ) -> Answer:
        """The answer of an operation, of its body at most MAX_RESULT bytes. What is larger is not
        received: its upstream is left."""
        sent, name = prepared.sent, prepared.call.tool.name
        body, complete, broke_off = bytearray(), True, False
        try:
            for piece in response:
                body += piece
                if len(body) > MAX_RESULT:
                    complete = False
                    break
        except AbortConnection as error:
            if error.reason is AbortReason.CALLER_LEFT:
                raise
            broke_off = True
        link = ""
        if not complete and sent.method == "GET":
            link = base_of(exchange, self._config) + sent.target
        return Answer(
            response.status,
            response.headers,
            bytes(body[:MAX_RESULT]),
            uri=f"modelway://{self._name}/{name}/{exchange.request_id}",
            link=link,
            complete=complete,
            broke_off=broke_off,
            size=_announced(response.headers),
        )


def _key(exchange: Exchange, address: str, message_id: object) -> object:
    """Equal for messages of one client with one id. Two clients with the same token, address and
    program may use the same ids: MCP has nothing that tells them apart."""
    return exchange.token, address, exchange.environ.get("HTTP_USER_AGENT"), message_id


def _head(environ: Mapping[str, Any]) -> Head:
    """The headers of MCP in a request."""
    header = environ.get
    return Head(
        header("HTTP_MCP_PROTOCOL_VERSION"),
        header("HTTP_MCP_METHOD"),
        header("HTTP_MCP_NAME"),
        header("HTTP_USER_AGENT", ""),
    )


def _announced(headers: Sequence[tuple[str, str]]) -> int | None:
    """The size of a body by its Content-Length."""
    length = next((value for name, value in headers if name.lower() == "content-length"), "")
    return int(length) if length.isdecimal() and len(length) < 19 else None
