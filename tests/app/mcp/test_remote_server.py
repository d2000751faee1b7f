"""Calls of the tools of another MCP server: what is sent, and what comes back."""

import json

from tests.support import mcp_messages
from tests.support.each import each
from tests.support.mcp_messages import call, message, modern
from tests.support.mcp_upstreams import ALICE, BOB, CAROL, Script, tool
from tests.support.recording import answer


def names(gateway, token=ALICE, path="/mcp"):
    status, document = gateway.ask(modern("tools/list"), token=token, path=path)
    assert status == 200, document
    return [entry["name"] for entry in document["result"]["tools"]]


@each("is_modern", [True, False])
def test_tools_of_a_server_are_listed_with_its_prefix_and_called(far, is_modern):
    script = Script(modern=is_modern)
    gateway = far(script)
    assert names(gateway) == ["far_drop", "far_show"]
    assert gateway.text("far_show", {"id": "7"}, token=ALICE) == '{"id": "7"}'
    received = script.messages[-1][1]
    assert received.line == "POST /mcp/ HTTP/1.1"
    assert received.values("authorization") == ["Bearer sk-hush"]
    assert json.loads(received.body)["params"]["name"] == "show"


def test_a_list_of_patterns_takes_and_leaves_out_tools(far):
    assert names(far(Script()), path="/few") == ["f-show"]


def test_a_token_sees_and_calls_the_tools_of_its_operations(far):
    gateway = far(Script())
    assert names(gateway, BOB) == ["far_show"]
    status, document = gateway.ask(call("far_drop"), token=BOB)
    assert (status, document["error"]["message"]) == (400, "Unknown tool: far_drop")


def test_a_call_is_observed_as_an_operation_of_its_upstream(far):
    gateway = far(Script())
    gateway.result("far_show", {"id": "7"}, token=ALICE)
    (exchange,) = gateway.ended
    record = exchange.record
    assert (exchange.operation, record.upstream, record.status) == ("far.show", "far", 200)
    assert (record.mcp.server, record.mcp.tool, record.outcome) == ("all", "far_show", "complete")


def test_the_limits_of_a_token_hold(far):
    gateway = far(Script())
    gateway.result("far_show", token=CAROL)
    assert "HTTP 429" in gateway.text("far_show", token=CAROL)


def test_policies_see_the_arguments_as_the_body(far):
    deny = "policies: [{deny: {if: {body: {id: {const: x}}}, message: No x.}}]\n"
    script = Script()
    gateway = far(script, lambda text: text + deny)
    assert "No x." in gateway.text("far_show", {"id": "x"}, token=ALICE)
    assert script.count("tools/call") == 0
    assert gateway.text("far_show", {"id": "y"}, token=ALICE) == '{"id": "y"}'


def test_a_stream_is_left_at_its_answer(far):
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}
    gateway = far(Script(stream=True, before=[progress]))
    assert gateway.text("far_show", {"id": "7"}, token=ALICE) == '{"id": "7"}'
    assert gateway.ended[-1].record.outcome == "complete"


@each("method", ["sampling/createMessage", "elicitation/create", "roots/list"])
def test_what_a_server_asks_of_its_client_ends_the_call(far, method):
    asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {}}
    gateway = far(Script(modern=False, stream=True, before=[asked]))
    result = gateway.result("far_show", token=ALICE)
    assert result["isError"] is True
    assert method in result["content"][0]["text"]


def test_an_answer_with_another_id_is_no_answer(far):
    stray = {"jsonrpc": "2.0", "id": 999_999, "result": {"content": []}}
    gateway = far(Script(stream=True, before=[stray]))
    assert gateway.text("far_show", {"id": "7"}, token=ALICE) == '{"id": "7"}'


def test_a_caller_keeps_its_session_and_shares_it_with_no_other(far):
    script = Script(modern=False)
    gateway = far(script)
    for token in (ALICE, ALICE, BOB):
        gateway.result("far_show", token=token)
    calls = [
        r.values("mcp-session-id")[0] for method, r in script.messages if method == "tools/call"
    ]
    assert calls[0] == calls[1] != calls[2]
    assert script.opened == 3  # one is that of the list


def test_a_session_that_the_server_has_ended_is_begun_anew(far):
    script = Script(modern=False)
    gateway = far(script)
    gateway.result("far_show", token=ALICE)
    script.sessions.clear()
    assert gateway.text("far_show", {"id": "7"}, token=ALICE) == '{"id": "7"}'


def test_sessions_are_ended_when_the_worker_ends(far):
    script = Script(modern=False)
    gateway = far(script)
    gateway.result("far_show", token=ALICE)
    gateway.app.close()
    assert script.sessions == set()


def test_headers_of_callers_pass_if_the_upstream_says_so(far):
    script = Script()
    gateway = far(script)
    headers = [*mcp_messages.head_of(call("far_show")), ("x-user", "u1"), ("x-other", "o1")]
    gateway.post(call("far_show"), token=ALICE, headers=headers)
    received = script.messages[-1][1]
    assert (received.values("x-user"), received.values("x-other")) == (["u1"], [])
    assert script.count("tools/list") == 1


def test_callers_with_other_headers_have_their_own_list(far):
    script = Script()
    gateway = far(script)
    head = mcp_messages.head_of(modern("tools/list"))
    for user in ("u1", "u2", "u1"):
        gateway.post(modern("tools/list"), token=ALICE, headers=[*head, ("x-user", user)])
    assert script.count("tools/list") == 2


def test_an_answer_that_is_too_large_is_an_error_of_the_tool(far):
    script = Script(results={"show": {"content": [{"type": "text", "text": "x" * 1_100_000}]}})
    result = far(script).result("far_show", token=ALICE)
    assert result["isError"] is True
    assert "more than 1000000 bytes" in result["content"][0]["text"]


@each(
    "status, text",
    [
        (401, "HTTP status 401"),
        (500, "HTTP status 500"),
        (302, "HTTP status 302"),
        (429, "HTTP 429"),
    ],
)
def test_a_status_of_a_server_is_an_error_of_the_tool(far, status, text):
    script = Script(raw={"tools/call": answer(b"{}", ["Location: http://127.0.0.1:1/"], status)})
    gateway = far(script)
    result = gateway.result("far_show", token=ALICE)
    assert result["isError"] is True
    assert text in result["content"][0]["text"]
    assert script.count("tools/call") == 1
    assert gateway.ended[-1].record.status == (429 if status == 429 else 502)


@each(
    "body, text",
    [
        (b"[]", "no result"),
        (b"x", "not JSON"),
        (b"", "not JSON"),
        (
            b'{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no","data":[7]}}',
            "error -1: no\n[7]",
        ),
        (b'{"a":' * 100 + b"1" + b"}" * 100, "levels"),
    ],
)
def test_an_answer_that_is_none_is_an_error_of_the_tool(far, body, text):
    result = far(Script(raw={"tools/call": answer(body)})).result("far_show", token=ALICE)
    assert result["isError"] is True
    assert text in result["content"][0]["text"]


def test_an_error_keeps_its_structured_content(far):
    failed = {"content": [], "structuredContent": {"reason": "full"}, "isError": True}
    result = far(Script(results={"show": failed})).result("far_show", token=ALICE)
    assert (result["isError"], result["structuredContent"]) == (True, {"reason": "full"})


def test_an_error_of_a_tool_with_a_schema_has_no_structured_content(far):
    failed = {"content": [], "structuredContent": {"reason": "full"}, "isError": True}
    schema = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
    script = Script(tools=[tool("show", outputSchema=schema)], results={"show": failed})
    gateway = far(
        script, lambda text: text.replace("path: /mcp,", "path: /mcp, output_schemas: true,")
    )
    result = gateway.result("far_show", token=ALICE)
    assert (result["isError"], "structuredContent" in result) == (True, False)
    assert "full" in result["content"][0]["text"]


def test_a_server_that_wants_more_input_gets_none(far):
    script = Script(results={"show": {"resultType": "input_required", "inputRequests": {}}})
    result = far(script).result("far_show", token=ALICE)
    assert result["isError"] is True
    assert "more input" in result["content"][0]["text"]


def test_clients_of_both_eras_are_served(far):
    gateway = far(Script(tools=[tool("show")]))
    _, document = gateway.post(message("tools/list"), token=ALICE)
    assert [entry["name"] for entry in document["result"]["tools"]] == ["far_show"]
