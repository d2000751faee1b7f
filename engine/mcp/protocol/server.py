"""One MCP server: the answer to a message, or the call that it asks for (`Server.answer`).

Statuses are those of the message's era. Clients of 2026-07-28 expect 400, and 404 for an unknown
method; those of the years before lose an error that does not come with 200.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from msgspec import Struct

from engine.mcp.listed_tool import ListedTool
from engine.mcp.protocol.catalog import Catalog, Visible
from engine.mcp.protocol.json_rpc import (
    Code,
    Message,
    ProtocolError,
    error,
    read_message,
    result,
)
from engine.mcp.protocol.results import ToolResult, json_result, text_result
from engine.mcp.protocol.revisions import (
    META,
    MODERN,
    Head,
    check_legacy,
    check_modern,
    client_of,
    is_modern,
    legacy_revision,
    negotiated,
)
from engine.mcp.protocol.search import CALL, DEFAULT_LIMIT, MAX_LIMIT, SEARCH, matches_document
from engine.values.caller import Caller

LIST_SECONDS = 60
"""How long a client may keep a list: after a reload it may be another one."""

_METHODS = frozenset(
    {"initialize", "ping", "server/discover", "tools/list", "tools/call"}
    | {"notifications/initialized", "notifications/cancelled"}
)
_INSTRUCTIONS = f"The tools of this server are found by {SEARCH} and called by {CALL}."


class Reply(Struct, frozen=True):
    """An HTTP response: its body is JSON, or b"" for the acceptance of a notification. `code` is
    the word of an error for the log, "" for none."""

    status: int
    body: bytes
    code: str = ""


class Request(Struct, frozen=True):
    """A message whose head and form are valid. `client` is the program that sent it."""

    message: Message
    revision: str
    client: str
    head: Head

    @property
    def is_modern(self) -> bool:
        return self.revision == MODERN

    @property
    def method(self) -> str:
        """The method, "other" for an unknown one: the name of a series of metrics."""
        return self.message.method if self.message.method in _METHODS else "other"

    @property
    def cancels(self) -> object:
        """The id of the request that this one cancels, None for none."""
        if self.message.method != "notifications/cancelled":
            return None
        return self.message.params.get("requestId")


class ToolCall(Struct, frozen=True):
    """A tool is to be called; `Server.reply` makes the answer of its result. `body_text` is
    the JSON of the argument `body` as it was sent, b"" if it is not known."""

    tool: ListedTool
    arguments: Mapping[str, Any]
    request: Request
    body_text: bytes = b""


class Refusal(Exception):
    """A message is not valid; `reply` says why. `request` is None if it cannot be read."""

    def __init__(self, reply: Reply, request: Request | None = None) -> None:
        super().__init__(reply.status)
        self.reply, self.request = reply, request


class Server:
    """An MCP server with the tools of a catalog. Its `name` and `version` are shown to clients;
    `is_public`: all callers see the same tools."""

    def __init__(self, name: str, version: str, catalog: Catalog, *, is_public: bool) -> None:
        self._catalog = catalog
        self._info = {"name": name, "version": version}
        meta = orjson.dumps({f"{META}serverInfo": self._info})
        self._end = b',"resultType":"complete","_meta":' + meta + b"}}"
        scope = b"public" if is_public else b"private"
        lifetime = b'"ttlMs":%d,"cacheScope":"%s"' % (LIST_SECONDS * 1000, scope)
        self._list_end = b',"resultType":"complete",' + lifetime + b',"_meta":' + meta + b"}"

    def read(self, head: Head, data: bytes) -> Request:
        """The request of a POST. Raises Refusal."""
        try:
            message = read_message(data)
        except ProtocolError as failure:
            body = error(None, failure.code, str(failure), failure.data)
            raise Refusal(Reply(400, body, failure.code.name.lower())) from failure
        is_new = is_modern(head, message)
        revision = MODERN if is_new else legacy_revision(head, message)
        request = Request(message, revision, client_of(head, message), head)
        try:
            if message.id is not None:
                (check_modern if is_new else check_legacy)(head, message)
        except ProtocolError as failure:
            raise Refusal(_refusal(request, failure), request) from failure
        return request

    def answer(
        self, request: Request, caller: Caller | None, catalog: Catalog | None = None
    ) -> Reply | ToolCall:
        """The answer to a request, or the call that it asks for. `catalog` has the tools of this
        caller, if they are others than those of the server."""
        catalog = catalog or self._catalog
        message = request.message
        if message.id is None:
            return Reply(202, b"")
        try:
            if message.method == "tools/call":
                return self._call(request, catalog.visible(caller), catalog)
            return Reply(200, result(message.id, self._result(request, caller, catalog)))
        except ProtocolError as failure:
            return _refusal(request, failure)

    def reply(self, request: Request, tool_result: ToolResult) -> Reply:
        """The answer to a request for a call, of its result."""
        is_modern, key, structured = request.revision == MODERN, b"", tool_result.structured
        if structured and (is_modern or tool_result.is_object):
            key = b',"structuredContent":'
        else:
            structured = b""
        parts = (
            b'{"jsonrpc":"2.0","id":',
            orjson.dumps(request.message.id),
            b',"result":{"content":',
            orjson.dumps(tool_result.content),
            b',"isError":true' if tool_result.is_error else b',"isError":false',
            key,
            structured,
            self._end if is_modern else b"}}",
        )
        return Reply(200, b"".join(parts))

    def _result(self, request: Request, caller: Caller | None, catalog: Catalog) -> bytes:
        """The JSON of the result of a request other than a call."""
        method, modern = request.message.method, request.is_modern
        if method == "tools/list":
            return self._list(request, catalog.visible(caller), catalog)
        if method == "server/discover" and modern:
            document = {"supportedVersions": [MODERN], **_description(caller, catalog)}
            return orjson.dumps(document)[:-1] + self._list_end
        if method == "initialize" and not modern:
            revision = negotiated(request.message)
            document = {"protocolVersion": revision, "serverInfo": self._info}
            return orjson.dumps(document | _description(caller, catalog))
        if method == "ping" and not modern:
            return b"{}"
        message = f"Method not found: {method[:128]}"
        raise ProtocolError(Code.METHOD_NOT_FOUND, message)

    def _list(self, request: Request, visible: Visible, catalog: Catalog) -> bytes:
        cursor = request.message.params.get("cursor")
        if cursor is not None and (not isinstance(cursor, str) or not cursor):
            raise ProtocolError(Code.INVALID_PARAMS, "The cursor is not one of this list.")
        page = catalog.page(visible, cursor or "")
        return b"{" + page + (self._list_end if request.is_modern else b"}")

    def _call(self, request: Request, visible: Visible, catalog: Catalog) -> Reply | ToolCall:
        """The call of a tool by its name, or by `call_tool`."""
        params = request.message.params
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str):
            raise ProtocolError(Code.INVALID_PARAMS, "params.name is not a string.")
        if arguments is None:
            arguments = {}
        if not isinstance(arguments, dict):
            raise ProtocolError(Code.INVALID_PARAMS, "params.arguments is not an object.")
        if visible.is_searched and name in (SEARCH, CALL):
            return self._call_search_tool(request, name, arguments, visible, catalog)
        tool = visible.tools.get(name)
        if tool is None:
            raise ProtocolError(Code.INVALID_PARAMS, f"Unknown tool: {name[:128]}")
        return ToolCall(tool, arguments, request, request.message.body_text)

    def _call_search_tool(
        self,
        request: Request,
        name: str,
        arguments: Mapping[str, Any],
        visible: Visible,
        catalog: Catalog,
    ) -> Reply | ToolCall:
        if name == SEARCH:
            return self.reply(request, _search(arguments, visible, catalog))
        tool_name, inner = arguments.get("name"), arguments.get("arguments", {})
        tool = visible.tools.get(tool_name) if isinstance(tool_name, str) else None
        if tool is None:
            text = f"name: there is no tool '{str(tool_name)[:128]}'; find one by "
            return self.reply(request, text_result(f"{text}{SEARCH}", is_error=True))
        if not isinstance(inner, dict):
            text = "arguments: not an object; write the tool's arguments as a JSON object"
            return self.reply(request, text_result(text, is_error=True))
        return ToolCall(tool, inner, request, request.message.inner_body_text)


def _refusal(request: Request, failure: ProtocolError) -> Reply:
    """The reply to a message that is refused, with the status of its era."""
    status = 200
    if request.is_modern:
        status = 404 if failure.code == Code.METHOD_NOT_FOUND else 400
    body = error(request.message.id, failure.code, str(failure), failure.data)
    return Reply(status, body, failure.code.name.lower())


def _description(caller: Caller | None, catalog: Catalog) -> dict[str, Any]:
    """What a client learns at its first request."""
    document: dict[str, Any] = {"capabilities": {"tools": {}}}
    if catalog.visible(caller).is_searched:
        document["instructions"] = _INSTRUCTIONS
    return document


def _search(arguments: Mapping[str, Any], visible: Visible, catalog: Catalog) -> ToolResult:
    query, limit = arguments.get("query"), arguments.get("limit", DEFAULT_LIMIT)
    if not isinstance(query, str):
        return text_result("query: not a string; write words of the task", is_error=True)
    if type(limit) is not int or not 1 <= limit <= MAX_LIMIT:
        text = f"limit: not a whole number from 1 to {MAX_LIMIT}"
        return text_result(text, is_error=True)
    tools = catalog.search(visible, query, limit)
    return json_result(matches_document(tools, len(visible.tools)))
