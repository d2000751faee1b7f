"""Answers the messages of an MCP server: what calls a tool calls its operation, from inside, as the
caller of the message."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from engine.app.mcp.remote_server import RemoteCall, RemoteServer
from engine.app.mcp.tool_catalogs import ToolCatalogs
from engine.app.routes.internal_call import CannotCall, OperationCall, OperationRequest
from engine.config.server import Server as ServerConfig
from engine.edge.lifecycle import RequestLifecycle
from engine.edge.origin import base_of
from engine.exchange.caller_connection import InternalCaller
from engine.exchange.exchange import Content, Exchange, Handler, Response
from engine.exchange.member_protocols import Headers
from engine.exchange.request_record import McpMessage
from engine.mcp.listed_tool import InvalidArguments
from engine.mcp.models.model_tool import ModelTool
from engine.mcp.models.results import model_result
from engine.mcp.protocol.catalog import Catalog
from engine.mcp.protocol.json_rpc import MAX_DEPTH, Id
from engine.mcp.protocol.progress import (
    Steps,
    finish,
    progress_events,
    progress_token,
    receive,
)
from engine.mcp.protocol.results import (
    MAX_RESULT,
    Answer,
    ToolResult,
    content_length,
    first_header,
    result_of,
    text_result,
)
from engine.mcp.protocol.revisions import head_of
from engine.mcp.protocol.server import Refusal, Reply, Request, Server, ToolCall
from engine.mcp.remote.listing import RemoteTool
from engine.mcp.remote.results import result_of_schema
from engine.mcp.tool import Tool
from engine.process.loop_turn import await_turn
from engine.values.client_address import Network, caller_address
from engine.values.errors import AbortConnection, AbortReason, GatewayError
from engine.values.trees import has_more_levels

_JSON, _EVENTS = "application/json", "text/event-stream"
_TRACE = (("traceparent", "HTTP_TRACEPARENT"), ("tracestate", "HTTP_TRACESTATE"))
_TOO_DEEP = "The arguments have too many levels of objects and lists."


class PreparedCall(Struct, frozen=True):
    """A call, and the request to its operation."""

    call: ToolCall
    tool: Tool | ModelTool
    operation: OperationCall
    operation_request: OperationRequest
    message: McpMessage


Prepared = PreparedCall | RemoteCall


class ToolCalls:
    """The last stages of an MCP server. `operation` gives the operation of a tool, to call it,
    `catalogs` what is listed, and `remote` are the servers of other tools by their upstreams;
    `proxies` are those whose X-Forwarded-For is trusted."""

    def __init__(
        self,
        server: Server,
        name: str,
        config: ServerConfig,
        lifecycle: RequestLifecycle,
        proxies: Sequence[Network],
        operation: Callable[[Tool | ModelTool], OperationCall],
        catalogs: ToolCatalogs,
        remote: Mapping[str, RemoteServer],
    ) -> None:
        self._server = server
        self._name = name
        self._config = config
        self._lifecycle = lifecycle
        self._proxies = proxies
        self._operation = operation
        self._catalogs, self._remote = catalogs, remote
        self._operations: dict[str, OperationCall] = {}

    def find_tools(self, exchange: Exchange, following: Handler) -> Response:
        """A stage that finds the tools, for which other servers may be asked."""
        exchange.content = Content(_JSON, self._catalogs.of(exchange.environ))
        return following(exchange)

    def prepare(self, exchange: Exchange, following: Handler) -> Response:
        """A stage that reads the message, and writes the request of the operation that it calls."""
        body = exchange.body = exchange.body_reader.receive()
        if body.in_memory is None:
            exchange.on_end.append(body.close)
        address = caller_address(exchange.environ, self._proxies)
        exchange.content = Content(_JSON, self._prepare(exchange, bytes(body.buffer), address))
        return following(exchange)

    def handle(self, exchange: Exchange) -> Response:
        """The last handler: the answer to the message."""
        prepared = exchange.content.value
        if type(prepared) is PreparedCall:
            outcome = self._call(exchange, prepared)
            if isinstance(outcome, Reply):
                return _response(outcome)
            accept = exchange.environ.get("HTTP_ACCEPT", "")
            token = progress_token(prepared.call.request, accept)
            if token is not None:
                return _with_progress(outcome, token)
            reply = finish(outcome)
        elif isinstance(prepared, RemoteCall):
            reply = self._remote_call(exchange, prepared)
        else:
            assert isinstance(prepared, Reply)
            reply = prepared
            exchange.record.code = reply.code
        return _response(reply)

    def _prepare(self, exchange: Exchange, body: bytes, address: str) -> Reply | Prepared:
        head, record = head_of(exchange.environ), exchange.record
        try:
            request = self._server.read(head, body)
        except Refusal as refusal:
            if refusal.request is None:
                record.mcp = McpMessage(self._name)
            else:
                record.mcp = self._message(refusal.request, "", exchange, address)
            return refusal.reply
        catalog = exchange.content.value
        catalog = catalog if isinstance(catalog, Catalog) else self._catalogs.fixed
        answer = self._server.answer(request, exchange.caller, catalog)
        if isinstance(answer, ToolCall):
            message = self._message(request, answer.tool.name, exchange, address)
            prepared = self._prepare_call(answer, message, exchange, address)
            if not isinstance(prepared, Reply):
                return prepared
            answer = prepared
        else:
            message = self._message(request, "", exchange, address)
            if request.cancels is not None and not request.is_modern:
                self._cancel(_key(exchange, address, request.cancels))
        record.mcp = message
        return answer

    def _prepare_call(
        self, call: ToolCall, message: McpMessage, exchange: Exchange, address: str
    ) -> Reply | Prepared:
        """The call with its request, or the error for arguments that are none."""
        tool = call.tool
        if not isinstance(tool, (Tool, ModelTool)):
            assert isinstance(tool, RemoteTool)
            if has_more_levels(call.arguments, MAX_DEPTH):
                return self._invalid_arguments(call, _TOO_DEEP)
            return RemoteCall(call, tool, self._remote[tool.upstream], message, address)
        try:
            operation = self._operations.get(tool.name) or self._make_operation(tool)
            values = tool.values(call.arguments, call.body_text)
            trace = _trace(exchange.environ)
            operation_request = operation.request(values, address, trace)
        except (InvalidArguments, CannotCall, GatewayError) as error:
            return self._invalid_arguments(call, str(error))
        except RecursionError:
            return self._invalid_arguments(call, _TOO_DEEP)
        return PreparedCall(call, tool, operation, operation_request, message)

    def _invalid_arguments(self, call: ToolCall, message: str) -> Reply:
        reply = self._server.reply(call.request, text_result(message, is_error=True))
        return replace(reply, code="invalid_arguments")

    def _make_operation(self, tool: Tool | ModelTool) -> OperationCall:
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

    def _call(self, exchange: Exchange, prepared: PreparedCall) -> Reply | Steps:
        """The reply to a call, or the steps of one whose answer arrives in pieces. Raises
        AbortConnection if the caller has left."""
        caller = InternalCaller(
            exchange.caller, exchange.token, exchange.connection.fileno(), None, prepared.message
        )
        try:
            inner, response = prepared.operation.send(
                prepared.operation_request, caller, exchange.request_id
            )
        except AbortConnection as error:
            return self._server.reply(prepared.call.request, _broken_off(error))
        body = response.body
        if not isinstance(body, bytes):
            return self._steps(exchange, prepared, inner, response)
        inner.end()
        return self._reply(exchange, prepared, Answer(response.status, response.headers, body))

    def _steps(
        self, exchange: Exchange, prepared: PreparedCall, inner: Exchange, response: Response
    ) -> Steps:
        """Receives an answer up to its bound, and a bit more of a larger one, whose upstream is
        left. Yields the number of events of a stream so far. Raises AbortConnection if the caller
        has left."""
        is_stream = first_header(response.headers, "content-type").startswith(_EVENTS)
        assert not isinstance(response.body, bytes)
        try:
            try:
                most = _max_answer(prepared.tool)
                body, broke_off = yield from receive(response.body, most, is_stream=is_stream)
            finally:
                inner.end()
        except AbortConnection as error:
            return self._server.reply(prepared.call.request, _broken_off(error))
        answer = Answer(response.status, response.headers, body, broke_off=broke_off)
        return self._reply(exchange, prepared, answer)

    def _reply(self, exchange: Exchange, prepared: PreparedCall, answer: Answer) -> Reply:
        """The reply to a call. Of an answer that is too large it has the beginning, and where all
        of it is."""
        tool, most = prepared.tool, _max_answer(prepared.tool)
        if len(answer.body) > most:
            inner, link = prepared.operation_request, ""
            if inner.method == "GET":
                link = base_of(exchange, self._config) + inner.target
            body, size = answer.body[:most], content_length(answer.headers)
            answer = Answer(answer.status, answer.headers, body, link, size, complete=False)
        return self._server.reply(prepared.call.request, _result(tool, answer))

    def _remote_call(self, exchange: Exchange, prepared: RemoteCall) -> Reply:
        """The answer to a call of another server's tool. Raises AbortConnection if the caller has
        left."""
        call, tool = prepared.call, prepared.tool
        caller = InternalCaller(
            *(exchange.caller, exchange.token, exchange.connection.fileno()), mcp=prepared.message
        )
        try:
            result = prepared.server.call(tool, call.arguments, exchange, caller, prepared.address)
        except AbortConnection as error:
            result = _broken_off(error)
        if tool.output_schema is not None:
            result = result_of_schema(result)
        return self._server.reply(call.request, result)


def _max_answer(tool: Tool | ModelTool) -> int:
    """The bytes of an answer that are received."""
    return tool.max_answer if isinstance(tool, ModelTool) else MAX_RESULT


def _broken_off(error: AbortConnection) -> ToolResult:
    """The result of a call whose answer has no end. Raises the error if the caller has left."""
    if error.reason is AbortReason.CALLER_LEFT:
        raise error
    return text_result(f"The answer broke off: {error.strerror}", is_error=True)


def _result(tool: Tool | ModelTool, answer: Answer) -> ToolResult:
    """The result for the answer of an operation."""
    if is_long := len(answer.body) > MAX_RESULT:
        await_turn()  # to read it, and to write it again, takes milliseconds each
    if isinstance(tool, ModelTool) and answer.status < 400:
        result = model_result(tool, answer)
        if is_long:
            await_turn()
        return result
    return result_of(answer, tool.name, needs_structure=tool.output_schema is not None)


def _response(reply: Reply) -> Response:
    """The HTTP response to a message."""
    if not reply.body:
        return Response(reply.status, [])
    return Response(reply.status, [("content-type", _JSON)], reply.body)


def _with_progress(steps: Steps, token: Id) -> Response:
    """The response to a client that asks for progress: events, if the call has some."""
    try:
        progress = next(steps)
    except StopIteration as end:
        return _response(end.value)
    headers = [("content-type", _EVENTS), ("cache-control", "no-store")]
    return Response(200, headers, progress_events(steps, progress, token, time.monotonic))


def _key(exchange: Exchange, address: str, message_id: object) -> object:
    """Equal for messages of one client with one id. Two clients with the same token, address and
    program may use the same ids: MCP has nothing that tells them apart."""
    return exchange.token, address, exchange.environ.get("HTTP_USER_AGENT"), message_id


def _trace(environ: Mapping[str, Any]) -> Headers:
    """The headers of a trace, for the request of the operation."""
    if "HTTP_TRACEPARENT" not in environ:
        return []
    return [(name, environ[key]) for name, key in _TRACE if key in environ]
