"""One MCP server: the answer to each message in both eras."""

import json

import pytest

from engine.mcp.listed_tool import list_entry
from engine.mcp.protocol.catalog import Catalog
from engine.mcp.protocol.results import ToolResult, text_result
from engine.mcp.protocol.revisions import MODERN, Head
from engine.mcp.protocol.server import Refusal, Reply, Server, ToolCall
from engine.values.caller import Caller
from tests.support.each import each
from tests.support.tools import new_tool

TOOLS = [new_tool("show", "Shows an order"), new_tool("create", "Creates an order")]
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def server_of(search_above=40, *, is_public=False):
    catalog = Catalog(TOOLS, lambda caller, tool: True, search_above)
    return Server("orders", "1.2", catalog, is_public=is_public)


SERVER, SEARCHED = server_of(), server_of(1)


def answer(method, params=None, *, modern=True, server=SERVER, caller=None, head=None, **more):
    """The status and the document of the answer, or the call."""
    params = params or {}
    if modern:
        params = {**params, "_meta": META}
        head = head or Head(MODERN, method, params.get("name"))
    document = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params, **more}
    try:
        reply = server.answer(server.read(head or Head(), json.dumps(document).encode()), caller)
    except Refusal as refusal:
        reply = refusal.reply
    return (
        reply if isinstance(reply, ToolCall) else (reply.status, json.loads(reply.body or "null"))
    )


def result(*arguments, **more):
    status, document = answer(*arguments, **more)
    assert (status, document["jsonrpc"], document["id"]) == (200, "2.0", 1)
    return document["result"]


def text_of(document):
    return document["content"][0]["text"]


INFO = {"io.modelcontextprotocol/serverInfo": {"name": "orders", "version": "1.2"}}
MARKS = {"resultType": "complete", "ttlMs": 60_000, "cacheScope": "private", "_meta": INFO}


def test_discover_says_what_is_served():
    expected = {"supportedVersions": [MODERN], "capabilities": {"tools": {}}, **MARKS}
    assert result("server/discover") == expected
    assert "search_tools" in result("server/discover", server=SEARCHED)["instructions"]
    assert result("server/discover", server=server_of(is_public=True))["cacheScope"] == "public"


def test_initialize_negotiates_a_revision():
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a"}}
    assert result("initialize", params, modern=False) == {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "orders", "version": "1.2"},
    }


def test_lists_have_the_members_of_their_era():
    tools = [list_entry(tool) for tool in TOOLS]
    assert result("tools/list") == {"tools": tools, **MARKS}
    assert result("tools/list", modern=False) == {"tools": tools}
    few = Caller("few", operations=("shop.show",))
    assert result("tools/list", caller=few, modern=False)["tools"] == tools[:1]


def test_ping_is_of_the_years_before():
    assert result("ping", modern=False) == {}


@each(
    "method, params, modern, status, code",
    [
        ("ping", {}, True, 404, -32601),
        ("initialize", {}, True, 404, -32601),
        ("resources/list", {}, True, 404, -32601),
        ("resources/list", {}, False, 200, -32601),
        ("tools/list", {"cursor": "x"}, True, 400, -32602),
        ("tools/list", {"cursor": ""}, True, 400, -32602),
        ("tools/list", {"cursor": 5}, False, 200, -32602),
        ("tools/call", {"name": "drop"}, True, 400, -32602),
        ("tools/call", {"name": "drop"}, False, 200, -32602),
        ("tools/call", {}, False, 200, -32602),
        ("tools/call", {"name": "show", "arguments": []}, True, 400, -32602),
        ("tools/call", {"name": "show", "arguments": "{}"}, False, 200, -32602),
        ("tools/call", {"name": "search_tools"}, False, 200, -32602),
    ],
)
def test_refusals_have_the_status_of_their_era(method, params, modern, status, code):
    got, document = answer(method, params, modern=modern)
    assert (got, document["id"], document["error"]["code"]) == (status, 1, code)


@each(
    "head, status, code",
    [
        (Head(MODERN, "tools/list"), 200, None),
        (Head(None, "tools/list"), 400, -32020),
        (Head(MODERN), 400, -32020),
        (Head(MODERN, "tools/call"), 400, -32020),
        (Head("2025-11-25", "tools/list"), 400, -32020),
    ],
)
def test_a_head_that_differs_from_the_body_is_refused(head, status, code):
    got, document = answer("tools/list", head=head)
    assert (got, document.get("error", {}).get("code")) == (status, code)


def test_what_cannot_be_read_is_refused_without_an_id():
    with pytest.raises(Refusal) as raised:
        SERVER.read(Head(), b"{")
    reply = raised.value.reply
    assert (reply.status, reply.code, json.loads(reply.body)["id"]) == (400, "parse", None)


@each("modern", [True, False])
def test_notifications_are_accepted(modern):
    document = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
    request = SERVER.read(Head(MODERN) if modern else Head(), json.dumps(document).encode())
    assert SERVER.answer(request, None) == Reply(202, b"")
    assert (request.cancels, request.method) == (7, "notifications/cancelled")


def test_unknown_methods_share_a_name():
    request = SERVER.read(Head(), b'{"jsonrpc":"2.0","id":1,"method":"x/y"}')
    assert (request.method, request.cancels) == ("other", None)


@each("modern", [True, False])
def test_a_call_has_its_tool_and_arguments(modern):
    call = answer("tools/call", {"name": "show", "arguments": {"id": 5}}, modern=modern)
    assert (call.tool, call.arguments) == (TOOLS[0], {"id": 5})
    assert answer("tools/call", {"name": "show"}, modern=modern).arguments == {}


def test_a_tool_that_a_token_may_not_call_is_as_unknown_as_one_that_does_not_exist():
    few = Caller("few", operations=("shop.show",))
    hidden = answer("tools/call", {"name": "create"}, caller=few)
    missing = answer("tools/call", {"name": "creator"}, caller=few)
    assert hidden[0] == missing[0] == 400
    assert hidden[1]["error"]["message"] == "Unknown tool: create"


@each(
    "modern, tool_result, structured",
    [
        (True, ToolResult([], b'{"a":1}', is_object=True), {"a": 1}),
        (True, ToolResult([], b"[1]"), [1]),
        (False, ToolResult([], b'{"a":1}', is_object=True), {"a": 1}),
        (False, ToolResult([], b"[1]"), None),
        (True, ToolResult([], b'{"a":1}', is_object=True, is_error=True), {"a": 1}),
        (True, text_result("x"), None),
    ],
)
def test_structured_content_is_what_clients_of_the_era_take(modern, tool_result, structured):
    call = answer("tools/call", {"name": "show"}, modern=modern)
    document = json.loads(SERVER.reply(call.request, tool_result).body)["result"]
    assert document.get("structuredContent") == structured
    assert document["isError"] is tool_result.is_error
    assert document["content"] == [*tool_result.content]
    assert ("resultType" in document) is modern


def test_many_tools_are_searched_and_called():
    params = {"name": "search_tools", "arguments": {"query": "create"}}
    document = result("tools/call", params, server=SEARCHED)
    assert [tool["name"] for tool in document["structuredContent"]["tools"]] == ["create"]
    inner = {"name": "create", "arguments": {"a": 1}}
    call = answer("tools/call", {"name": "call_tool", "arguments": inner}, server=SEARCHED)
    assert (call.tool, call.arguments) == (TOOLS[1], {"a": 1})
    assert answer("tools/call", {"name": "show"}, server=SEARCHED).tool is TOOLS[0]


@each(
    "name, arguments, text",
    [
        ("search_tools", {}, "query: "),
        ("search_tools", {"query": 5}, "query: "),
        ("search_tools", {"query": "x", "limit": 0}, "limit: "),
        ("search_tools", {"query": "x", "limit": 21}, "limit: "),
        ("search_tools", {"query": "x", "limit": True}, "limit: "),
        ("call_tool", {}, "name: there is no tool 'None'"),
        ("call_tool", {"name": "drop"}, "name: there is no tool 'drop'"),
        ("call_tool", {"name": ["show"]}, "name: "),
        ("call_tool", {"name": "show", "arguments": "{}"}, "arguments: "),
        ("call_tool", {"name": "call_tool", "arguments": {}}, "name: there is no tool 'call_tool'"),
    ],
)
def test_mistakes_of_a_model_are_errors_that_it_can_read(name, arguments, text):
    document = result("tools/call", {"name": name, "arguments": arguments}, server=SEARCHED)
    assert document["isError"]
    assert text_of(document).startswith(text)
