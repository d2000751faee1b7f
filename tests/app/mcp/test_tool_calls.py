"""Calls of tools in an application: whole answers, and what arrives at the upstream."""

import json
import socket
import threading

from engine.app.routes.internal_call import send
from engine.exchange.internal_request import Request
from engine.mcp.protocol.results import MAX_RESULT
from engine.mcp.protocol.revisions import META as META_PREFIX
from tests.support.each import each
from tests.support.mcp_messages import META, call, head_of, message, modern
from tests.support.mcp_shop import ALICE, BOB, ERIN
from tests.support.recording import PATIENCE, answer


def test_a_call_arrives_as_the_request_that_it_means(shop, shop_upstream):
    arguments = {"id": "a b/c", "fields": ["x&y", "z"], "X-Note": "hi"}
    result = shop.result("show", arguments, token=ALICE)
    assert result["structuredContent"] == {"id": "7"}
    assert result["content"] == [{"type": "text", "text": '{"id":"7"}'}]
    assert shop_upstream.last.line == "GET /v1/items/a%20b%2Fc?fields=x%26y&fields=z HTTP/1.1"
    assert shop_upstream.last.values("x-note") == ["hi"]
    assert shop_upstream.last.values("authorization") == ["Bearer sk-hush"]


def test_a_body_arrives(shop, shop_upstream):
    shop_upstream.speak = answer(b'{"ok":true}', status=201)
    assert not shop.result("create", {"body": {"sku": "y", "count": 2}}, token=ALICE)["isError"]
    assert json.loads(shop_upstream.last.body) == {"sku": "y", "count": 2}


def test_a_call_is_one_request_of_its_operation_and_its_caller(shop):
    shop.result("show", {"id": "1"}, token=ALICE)
    (exchange,) = shop.ended
    record = exchange.record
    assert (exchange.operation, exchange.caller.name) == ("shop.show", "alice")
    assert (record.status, record.outcome, record.upstream) == (200, "complete", "main")
    assert record.bytes_out == 10
    mcp = record.mcp
    assert (mcp.server, mcp.method, mcp.tool) == ("shop", "tools/call", "show")
    assert (mcp.revision, mcp.client) == ("2026-07-28", "agent/1")
    assert shop.headers["x-request-id"] == exchange.request_id


@each(
    "name, arguments, text",
    [
        ("show", {}, "id: "),
        ("show", {"id": 5}, "id: "),
        ("show", {"id": "1", "x": 1}, "x: "),
        ("create", {"body": {"count": 1}}, "body.sku: "),
        ("create", {"body": {"sku": "s", "count": "many"}}, "body.count: "),
    ],
)
def test_mistakes_of_a_model_are_errors_at_their_place(shop, shop_upstream, name, arguments, text):
    result = shop.result(name, arguments, token=ALICE)
    assert result["isError"]
    assert result["content"][0]["text"].startswith(text), result
    assert shop_upstream.requests == []


def test_guards_of_the_route_hold(shop, shop_upstream):
    denied = shop.result("create", {"body": {"sku": "x"}}, token=ALICE)
    assert (denied["isError"], denied["content"][0]["text"]) == (
        True,
        "HTTP 400 sku: No x. ('sku')",
    )
    shop.result("rare", token=ALICE)
    limited = shop.text("rare", token=ALICE)
    assert limited.startswith("HTTP 429, try again after ")
    assert len(shop_upstream.requests) == 1


def test_a_model_that_the_token_may_not_use_is_refused(shop, shop_upstream):
    assert "big" in shop.text("chat", {"body": {"model": "big"}}, token=ERIN)
    assert shop_upstream.requests == []


@each("status", [401, 404, 429, 500, 503])
def test_an_error_of_the_upstream_is_one_of_the_tool(shop, shop_upstream, status):
    shop_upstream.speak = answer(b'{"detail":"sorry"}', status=status)
    result = shop.result("show", {"id": "1"}, token=ALICE)
    assert result["isError"]
    assert "structuredContent" not in result
    assert result["content"][0]["text"].startswith(f"HTTP {status}")


def test_an_answer_that_is_too_large_is_not_received(shop, shop_upstream):
    size = 100_000_000

    def pour(received, sock):
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {size}\r\n\r\n"
        sock.sendall(head.encode())
        try:
            for _ in range(size // 1_000_000):
                sock.sendall(b"x" * 1_000_000)
                pour.sent += 1_000_000
        except OSError:
            pass

    pour.sent = 0
    shop_upstream.speak = pour
    text, link = shop.result("find", token=ALICE)["content"]
    assert f"({size} bytes)" in text["text"]
    assert len(text["text"]) < 20_000
    assert link["uri"] == "http://localhost/v1/items/find"
    assert pour.sent < 20 * MAX_RESULT


def test_an_answer_that_breaks_off_is_an_error_of_the_tool(shop, shop_upstream):
    def break_off(received, sock):
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nabc")
        sock.shutdown(socket.SHUT_RDWR)

    shop_upstream.speak = break_off
    result = shop.result("find", token=ALICE)
    assert result["isError"]
    assert "broke off" in result["content"][0]["text"]


def test_a_stream_is_joined(shop, shop_upstream):
    events = b'data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n'
    events += b'data: {"choices":[{"delta":{"content":"lo"}}]}\n\ndata: [DONE]\n\n'
    shop_upstream.speak = answer(events, ["Content-Type: text/event-stream"])
    body = {"model": "big", "stream": True}
    assert shop.text("chat", {"body": body}, token=ALICE) == "Hello"


def test_trace_context_goes_on(shop, shop_upstream):
    trace = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"
    document = call("find")
    headers = [*head_of(document), ("traceparent", trace)]
    shop.post(document, token=ALICE, headers=headers)
    assert shop_upstream.last.values("traceparent") == [trace]


# The attacks.


@each(
    "value",
    [
        *("..", "../drop", "%2e%2e", "..%2f..", ".", "..;/x", "a/../../x", "\\..\\x"),
        *(
            "%252e%252e%252f",
            "..%5c..",
            ".%2e",
            "..;%2f",
            "\uff0e\uff0e/x",
            "%c0%ae%c0%ae/",
            "..%00",
        ),
    ],
)
def test_no_value_leads_to_another_path(shop, shop_upstream, value):
    shop_upstream.reset()
    result = shop.result("show", {"id": value}, token=ALICE)
    assert result["isError"], [r.line for r in shop_upstream.requests]
    assert shop_upstream.requests == []


@each("value", ["find", "drop", "%66ind"])
def test_no_value_leads_to_another_operation(shop, shop_upstream, value):
    shop_upstream.reset()
    result = shop.result("show", {"id": value}, token=BOB)
    if value != "%66ind":  # which is sent as %2566ind, an id like any other
        assert result["isError"]
        assert "path is that of another operation" in result["content"][0]["text"]
        assert shop_upstream.requests == []
    else:
        assert shop_upstream.last.target == "/v1/items/%2566ind"


@each("value", ["a?x=1", "a#b", "a&admin=1", "a%26x", "a\u00e9", "a;b=1", "a+b"])
def test_no_value_adds_a_parameter(shop, shop_upstream, value):
    shop_upstream.reset()
    shop.result("show", {"id": value, "fields": [value]}, token=ALICE)
    (received,) = shop_upstream.requests
    path, _, query = received.target.partition("?")
    assert path.count("/") == 3
    assert "?" not in query
    assert query.count("&") == 0
    assert "#" not in received.target


@each("value", ["a\r\nx-admin: 1", "a\nb", "\u0000", "a\u2028b", " a", "\x7f"])
def test_no_value_adds_a_header(shop, shop_upstream, value):
    shop_upstream.reset()
    result = shop.result("show", {"id": "1", "X-Note": value}, token=ALICE)
    assert result["isError"]
    assert shop_upstream.requests == []


def test_no_argument_says_who_calls(shop, shop_upstream):
    result = shop.result("show", {"id": "1", "Authorization": f"Bearer {ALICE}"}, token=BOB)
    assert result["isError"]
    assert shop_upstream.requests == []


@each("name", ["create", "drop", "shop.create", "Show", "../create", "create\u0000", ""])
def test_a_tool_of_another_token_is_unknown(shop, shop_upstream, name):
    document = modern("tools/call", {"name": name, "arguments": {"body": {"sku": "s"}}})
    headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call")]
    if name.isprintable() and name:
        headers.append(("mcp-name", name))
    status, answered = shop.post(document, token=BOB, headers=headers)
    assert status == 400
    assert answered["error"]["code"] in (-32602, -32020)
    assert shop_upstream.requests == []


@each(
    "arguments",
    [
        {"id": ["1", "..", "drop"]},
        {"id": {"a": "b"}},
        {"id": "1", "fields": {"a": 1}},
        {"id": "1", "fields": [["x"]]},
        {"id": "1", "X-Note": ["a", "b"]},
        {"id": "1", "cookie": "admin=1"},
        {"id": "1", "__proto__": {"x": 1}},
    ],
)
def test_no_list_or_object_stands_for_a_text(shop, shop_upstream, arguments):
    assert shop.result("show", arguments, token=ALICE)["isError"]
    assert shop_upstream.requests == []


def test_a_large_meta_costs_nothing_and_is_not_recorded(shop):
    document = call("show", {"id": "1"})
    client = {"name": "n" * 1_000_000, "version": {"a": 1}}
    document["params"]["_meta"] |= {f"{META_PREFIX}clientInfo": client, "x": "m" * 1_000_000}
    status, answered = shop.post(document, token=ALICE, headers=head_of(document))
    assert (status, answered["result"]["isError"]) == (200, False)
    assert shop.ended[-1].record.mcp.client == "n" * 64


@each("header", ["=?base64?c2hvdw==?=", "show, create", "CREATE", "cr%65ate", "=?base64?!!?="])
def test_no_other_form_of_a_name_passes_the_head(shop, shop_upstream, header):
    document = call("create", {"body": {"sku": "s"}})
    headers = [*head_of(document)[:2], ("mcp-name", header)]
    status, answered = shop.post(document, token=ALICE, headers=headers)
    assert (status, answered["error"]["code"]) == (400, -32020)
    assert shop_upstream.requests == []


def test_a_name_in_the_head_does_not_decide(shop, shop_upstream):
    document = call("create", {"body": {"sku": "s"}})
    headers = [*head_of(document)[:2], ("mcp-name", "show")]
    status, answered = shop.post(document, token=ALICE, headers=headers)
    assert (status, answered["error"]["code"]) == (400, -32020)
    assert shop_upstream.requests == []


@each(
    "headers",
    [
        [("mcp-name", "show")],
        [("mcp-protocol-version", "2025-11-25"), ("mcp-name", "show")],
        [("mcp-protocol-version", "2025-06-18"), ("mcp-name", "=?base64?c2hvdw==?=")],
        [("mcp-protocol-version", "2025-11-25"), ("mcp-method", "tools/list")],
        [("mcp-protocol-version", "2025-11-25"), ("mcp-name", "create"), ("mcp-name", "create")],
    ],
)
def test_headers_of_a_later_revision_must_agree_with_an_older_body(shop, shop_upstream, headers):
    document = message("tools/call", {"name": "create", "arguments": {"body": {"sku": "s"}}})
    status, answered = shop.post(document, token=ALICE, headers=headers)
    assert (status, answered["error"]["code"]) == (200, -32020)
    assert shop_upstream.requests == []


@each(
    "arguments",
    [
        {"id": "x" * 9_000},
        {"id": "\u20ac" * 1_000},
        {"id": "1", "fields": ["x" * 90] * 100},
        {"id": "1", "X-Note": "x" * 17_000},
    ],
)
def test_no_value_makes_a_longer_head_than_a_caller_may_send(shop, shop_upstream, arguments):
    result = shop.result("show", arguments, token=ALICE)
    assert result["isError"]
    assert " bytes" in result["content"][0]["text"]
    assert shop_upstream.requests == []


def test_batches_are_refused(shop, shop_upstream):
    batch = [call("find"), call("find")]
    status, answered = shop.post(batch, token=ALICE)
    assert (status, answered["error"]["code"]) == (400, -32600)
    assert shop_upstream.requests == []


@each(
    "document",
    [
        b"[" * 500_000,
        b'{"a":' * 500_000,
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 1030 + b"1" + b"}" * 1031,
    ],
)
def test_deep_json_is_refused(shop, document):
    assert shop.post(document, token=ALICE)[0] == 400


def nested(levels):
    return json.loads('{"a":' * levels + "1" + "}" * levels)


@each(
    "name, arguments",
    [
        ("create", {"body": nested(900)}),
        ("show", {"id": nested(900)}),
        ("show", {"id": "1", "fields": [nested(900)]}),
    ],
)
def test_arguments_of_too_many_levels_are_an_error_of_the_tool(
    shop, shop_upstream, name, arguments
):
    assert shop.result(name, arguments, token=ALICE)["isError"]
    assert shop_upstream.requests == []


@each(
    "body",
    [
        b'{"sku":"s","deep":' + b'{"a":' * 400 + b"1" + b"}" * 401,
        b'{ "sku" : "\\u0073" , "big":123456789012345678901, "price": 1.10, "exponent":1E2}',
        b'{"a":1,"a":2,"sku":"s","\xc3\xa9":"\\u00e9"}',
    ],
)
def test_the_body_is_sent_as_it_was_written(shop, shop_upstream, body):
    shop_upstream.speak = answer(b"{}", status=201)
    document = call("create", {"body": "BODY"})
    text = json.dumps(document).encode().replace(b'"BODY"', body)
    _, answered = shop.post(text, headers=head_of(document), token=ALICE)
    assert not answered["result"]["isError"], answered
    assert shop_upstream.last.body == body


@each("size", [1, 1_000])
def test_a_body_for_a_searched_tool_is_sent_as_it_was_written(shop, shop_upstream, size):
    shop_upstream.speak = answer(b"{}", status=201)
    body = b'{ "sku":"s", "big":[%b1.10] }' % (b"123456789012345678901," * size)
    document = call("call_tool", {"name": "create", "arguments": {"body": "BODY"}})
    text = json.dumps(document).encode().replace(b'"BODY"', body)
    _, answered = shop.post(text, headers=head_of(document), token=ALICE, path="/many")
    assert not answered["result"]["isError"], answered
    assert shop_upstream.last.body == body


def test_notifications_are_accepted_without_a_body(shop):
    document = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert shop.post(document, token=ALICE) == (202, None)


STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


def test_a_stream_has_progress_for_a_client_that_asks(shop, shop_upstream):
    goes_on = threading.Event()

    def speak(received, sock):
        sock.sendall(STREAM + b"data: one\n\n")
        assert goes_on.wait(PATIENCE)
        sock.sendall(b"data: two\n\ndata: [DONE]\n\n")
        sock.shutdown(socket.SHUT_RDWR)

    shop_upstream.speak = speak
    document = call("find")
    document["params"]["_meta"] = {**META, "progressToken": "t"}
    headers = [*head_of(document), ("accept", "application/json, text/event-stream")]
    headers += [("content-type", "application/json"), ("authorization", f"Bearer {ALICE}")]
    response = send(shop.app, Request("POST", "/mcp", headers, json.dumps(document).encode()))
    assert dict(response.headers)["content-type"] == "text/event-stream"
    pieces = iter(response)
    first = json.loads(next(pieces).partition(b"data: ")[2])
    assert first["params"] == {"progressToken": "t", "progress": 1}
    goes_on.set()
    last = json.loads(b"".join(pieces).rpartition(b"event: message\ndata: ")[2])
    assert "two" in last["result"]["content"][0]["text"]
    (record,) = [each.record for each in shop.ended]
    assert (record.status, record.outcome) == (200, "complete")
    assert "two" in shop.text("find", token=ALICE), "any other client gets one document"
