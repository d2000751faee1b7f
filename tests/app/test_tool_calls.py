"""Messages of MCP in an application: whole answers, and what arrives at the upstream."""

import json

import pytest

from engine.tools.protocol.results import MAX_RESULT
from engine.values.caller import digest
from tests.support.each import each
from tests.support.mcp_messages import Gateway, call, head_of, message, modern
from tests.support.recording import answer, recorder

ALICE, BOB, CAROL, DAVE, ERIN = (f"mw-{letter * 64}" for letter in "12345")
CONFIG = f"""version: 1
specs: {{shop: {{document: shop.yaml}}}}
upstreams: {{main: {{url: "URL/v1", credential: {{bearer: sk-hush}}, proxy: ""}}}}
models: {{big: {{to: [{{upstream: main}}]}}, small: {{to: [{{upstream: main}}]}}}}
mcp:
  shop: {{path: /mcp, operations: ["shop.*", "!shop.drop"], output_schemas: true}}
  open: {{path: /open, operations: [shop.find]}}
tokens:
  - {{name: alice, sha256: {digest(ALICE)}}}
  - {{name: bob, sha256: {digest(BOB)}, operations: [shop.show], models: [small]}}
  - {{name: carol, sha256: {digest(CAROL)}, ips: [10.0.0.0/8]}}
  - {{name: dave, sha256: {digest(DAVE)}, models: [none]}}
  - {{name: erin, sha256: {digest(ERIN)}, models: [small]}}
routes:
  - {{operation: shop.find, to: [{{upstream: main}}], auth: none}}
  - {{operation: shop.chat, model: $request.body#/model}}
  - operation: shop.create
    to: [{{upstream: main}}]
    policies: [{{deny: {{if: {{body: {{sku: {{const: x}}}}}}, message: No x.}}}}]
  - operation: shop.rare
    to: [{{upstream: main}}]
    policies: [{{rate_limit: {{requests: 1, per: 1h}}}}]
  - {{operation: "shop.*", to: [{{upstream: main}}]}}
"""
DOCUMENT = """openapi: 3.1.0
info: {title: Shop, version: "1"}
servers: [{url: /v1}]
security: [{bearer: []}]
paths:
  /items/{id}:
    get:
      operationId: show
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}}
        - {name: fields, in: query, schema: {type: array, items: {type: string}}}
        - {name: X-Note, in: header, schema: {type: string}}
        - {name: Authorization, in: header, schema: {type: string}}
        - {name: track, in: cookie, schema: {type: string}}
      responses:
        "200":
          description: ok
          content: {application/json: {schema: {type: object, properties: {id: {type: string}}}}}
  /items/find: {get: {operationId: find, responses: {"200": {description: ok}}}}
  /rare: {get: {operationId: rare, responses: {"200": {description: ok}}}}
  /items/drop: {get: {operationId: drop, responses: {"200": {description: ok}}}}
  /items:
    post:
      operationId: create
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [sku]
              properties: {sku: {type: string}, count: {type: integer, x-mcp-header: Count}}
      responses: {"201": {description: ok}}
  /chat:
    post:
      operationId: chat
      requestBody: {content: {application/json: {schema: {type: object}}}}
      responses: {"200": {description: ok}}
components: {securitySchemes: {bearer: {type: http, scheme: bearer}}}
"""


@pytest.fixture(scope="module")
def upstream():
    with recorder() as recording:
        yield recording


@pytest.fixture(scope="module")
def front(tmp_path_factory, upstream):
    files = {"gateway.yaml": CONFIG.replace("URL", upstream.url), "shop.yaml": DOCUMENT}
    return Gateway(tmp_path_factory.mktemp("mcp"), files)


@pytest.fixture
def gateway(front, upstream):
    upstream.reset()
    upstream.speak = answer(b'{"id":"7"}')
    front.ended.clear()
    return front


def tools_of(gateway, token):
    status, document = gateway.ask(modern("tools/list"), token=token)
    assert status == 200
    return [tool["name"] for tool in document["result"]["tools"]]


def test_a_call_arrives_as_the_request_that_it_means(gateway, upstream):
    arguments = {"id": "a b/c", "fields": ["x&y", "z"], "X-Note": "hi"}
    result = gateway.result("show", arguments, token=ALICE)
    assert result["structuredContent"] == {"id": "7"}
    assert result["content"] == [{"type": "text", "text": '{"id":"7"}'}]
    assert upstream.last.line == "GET /v1/items/a%20b%2Fc?fields=x%26y&fields=z HTTP/1.1"
    assert upstream.last.values("x-note") == ["hi"]
    assert upstream.last.values("authorization") == ["Bearer sk-hush"]


def test_a_body_arrives(gateway, upstream):
    upstream.speak = answer(b'{"ok":true}', status=201)
    assert not gateway.result("create", {"body": {"sku": "y", "count": 2}}, token=ALICE)["isError"]
    assert json.loads(upstream.last.body) == {"sku": "y", "count": 2}


def test_a_call_is_one_request_of_its_operation_and_its_caller(gateway):
    gateway.result("show", {"id": "1"}, token=ALICE)
    (exchange,) = gateway.ended
    record = exchange.record
    assert (exchange.operation, exchange.caller.name) == ("shop.show", "alice")
    assert (record.status, record.outcome, record.upstream) == (200, "complete", "main")
    assert record.bytes_out == 10
    mcp = record.mcp
    assert (mcp.server, mcp.method, mcp.tool) == ("shop", "tools/call", "show")
    assert (mcp.revision, mcp.client) == ("2026-07-28", "agent/1")
    assert gateway.headers["x-request-id"] == exchange.request_id


@each(
    "document, method, revision, code",
    [
        (modern("tools/list"), "tools/list", "2026-07-28", ""),
        (modern("server/discover"), "server/discover", "2026-07-28", ""),
        (message("initialize"), "initialize", "2025-11-25", ""),
        (message("x"), "other", "2025-03-26", "method_not_found"),
        (call("drop"), "tools/call", "2026-07-28", "invalid_params"),
        (call("show", {"i": 1}), "tools/call", "2026-07-28", "invalid_arguments"),
        (b"{", "", "", "parse"),
    ],
)
def test_any_other_message_is_observed_itself(gateway, document, method, revision, code):
    gateway.ended.clear()
    headers = head_of(document) if "_meta" in str(document) else ()
    gateway.post(document, token=ALICE, headers=headers)
    (exchange,) = gateway.ended
    mcp = exchange.record.mcp
    assert (exchange.operation, mcp.server, mcp.method, mcp.revision) == (
        "",
        "shop",
        method,
        revision,
    )
    assert (exchange.record.code, exchange.caller.name) == (code, "alice")


def test_a_token_sees_what_it_may_call(gateway):
    assert tools_of(gateway, ALICE) == ["chat", "create", "find", "rare", "show"]
    assert tools_of(gateway, BOB) == ["show"]


def test_a_token_that_may_use_no_model_sees_no_tool_that_needs_one(gateway):
    assert tools_of(gateway, DAVE) == ["create", "find", "rare", "show"]
    assert "chat" in tools_of(gateway, ERIN)


def test_the_schema_of_a_tool_names_no_header(gateway):
    _, document = gateway.ask(modern("tools/list"), token=ALICE)
    assert "x-mcp-header" not in json.dumps(document)


@each(
    "token, status, code",
    [
        ("", 401, "invalid_api_key"),
        ("mw-x", 401, "invalid_api_key"),
        (CAROL, 403, "address_not_allowed"),
    ],
)
def test_without_a_valid_token_nothing_is_answered(gateway, token, status, code):
    got, document = gateway.ask(modern("tools/list"), token=token)
    error = document["error"]
    assert (got, error["code"], error["data"]["code"]) == (status, status, code)


def test_a_server_whose_operations_are_open_needs_no_token(gateway, upstream):
    for path in ("/open", "/open/"):
        assert gateway.text("find", path=path) == '{"id":"7"}'
    _, document = gateway.ask(modern("tools/list"), path="/open")
    assert document["result"]["cacheScope"] == "public"
    assert gateway.ended[0].caller is None


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
def test_mistakes_of_a_model_are_errors_with_their_place(gateway, upstream, name, arguments, text):
    result = gateway.result(name, arguments, token=ALICE)
    assert result["isError"]
    assert result["content"][0]["text"].startswith(text), result
    assert upstream.requests == []


def test_guards_of_the_route_hold(gateway, upstream):
    denied = gateway.result("create", {"body": {"sku": "x"}}, token=ALICE)
    assert (denied["isError"], denied["content"][0]["text"]) == (True, "HTTP 403: No x.")
    gateway.result("rare", token=ALICE)
    limited = gateway.text("rare", token=ALICE)
    assert limited.startswith("HTTP 429, try again after ")
    assert len(upstream.requests) == 1


def test_a_model_that_the_token_may_not_use_is_refused(gateway, upstream):
    assert "big" in gateway.text("chat", {"body": {"model": "big"}}, token=ERIN)
    assert upstream.requests == []


@each("status", [401, 404, 429, 500, 503])
def test_an_error_of_the_upstream_is_one_of_the_tool(gateway, upstream, status):
    upstream.speak = answer(b'{"detail":"sorry"}', status=status)
    result = gateway.result("show", {"id": "1"}, token=ALICE)
    assert result["isError"]
    assert "structuredContent" not in result
    assert result["content"][0]["text"].startswith(f"HTTP {status}")


def test_an_answer_that_is_too_large_is_not_received(gateway, upstream):
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
    upstream.speak = pour
    text, link = gateway.result("find", token=ALICE)["content"]
    assert f"({size} bytes)" in text["text"]
    assert len(text["text"]) < 20_000
    assert link["uri"] == "http://localhost/v1/items/find"
    assert pour.sent < 20 * MAX_RESULT


def test_an_answer_that_breaks_off_is_an_error_of_the_tool(gateway, upstream):
    def break_off(received, sock):
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nabc")
        sock.close()

    upstream.speak = break_off
    result = gateway.result("find", token=ALICE)
    assert result["isError"]
    assert "broke off" in result["content"][0]["text"]


def test_a_stream_is_joined(gateway, upstream):
    events = b'data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n'
    events += b'data: {"choices":[{"delta":{"content":"lo"}}]}\n\ndata: [DONE]\n\n'
    upstream.speak = answer(events, ["Content-Type: text/event-stream"])
    body = {"model": "big", "stream": True}
    assert gateway.text("chat", {"body": body}, token=ALICE) == "Hello"


def test_trace_context_goes_on(gateway, upstream):
    trace = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"
    document = call("find")
    headers = [*head_of(document), ("traceparent", trace)]
    gateway.post(document, token=ALICE, headers=headers)
    assert upstream.last.values("traceparent") == [trace]


# The attacks.


@each("value", ["..", "../drop", "%2e%2e", "..%2f..", ".", "..;/x", "a/../../x", "\\..\\x"])
def test_no_value_leads_to_another_path(gateway, upstream, value):
    upstream.reset()
    result = gateway.result("show", {"id": value}, token=ALICE)
    assert result["isError"], [r.line for r in upstream.requests]
    assert upstream.requests == []


@each("value", ["find", "drop", "%66ind"])
def test_no_value_leads_to_another_operation(gateway, upstream, value):
    upstream.reset()
    result = gateway.result("show", {"id": value}, token=BOB)
    if value != "%66ind":  # which is sent as %2566ind, an id like any other
        assert result["isError"]
        assert "path is that of another operation" in result["content"][0]["text"]
        assert upstream.requests == []
    else:
        assert upstream.last.target == "/v1/items/%2566ind"


@each("value", ["a?x=1", "a#b", "a&admin=1", "a%26x", "a\u00e9", "a;b=1", "a+b"])
def test_no_value_adds_a_parameter(gateway, upstream, value):
    upstream.reset()
    gateway.result("show", {"id": value, "fields": [value]}, token=ALICE)
    (received,) = upstream.requests
    path, _, query = received.target.partition("?")
    assert path.count("/") == 3
    assert "?" not in query
    assert query.count("&") == 0
    assert "#" not in received.target


@each("value", ["a\r\nx-admin: 1", "a\nb", "\u0000", "a\u2028b", " a", "\x7f"])
def test_no_value_adds_a_header(gateway, upstream, value):
    upstream.reset()
    result = gateway.result("show", {"id": "1", "X-Note": value}, token=ALICE)
    assert result["isError"]
    assert upstream.requests == []


def test_no_argument_says_who_calls(gateway, upstream):
    result = gateway.result("show", {"id": "1", "Authorization": f"Bearer {ALICE}"}, token=BOB)
    assert result["isError"]
    assert upstream.requests == []


@each("name", ["create", "drop", "shop.create", "Show", "../create", "create\u0000", ""])
def test_a_tool_of_another_token_is_unknown(gateway, upstream, name):
    document = modern("tools/call", {"name": name, "arguments": {"body": {"sku": "s"}}})
    headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call")]
    if name.isprintable() and name:
        headers.append(("mcp-name", name))
    status, answered = gateway.post(document, token=BOB, headers=headers)
    assert status == 400
    assert answered["error"]["code"] in (-32602, -32020)
    assert upstream.requests == []


def test_a_name_in_the_head_does_not_decide(gateway, upstream):
    document = call("create", {"body": {"sku": "s"}})
    headers = [*head_of(document)[:2], ("mcp-name", "show")]
    status, answered = gateway.post(document, token=ALICE, headers=headers)
    assert (status, answered["error"]["code"]) == (400, -32020)
    assert upstream.requests == []


def test_batches_are_refused(gateway, upstream):
    batch = [call("find"), call("find")]
    status, answered = gateway.post(batch, token=ALICE)
    assert (status, answered["error"]["code"]) == (400, -32600)
    assert upstream.requests == []


@each(
    "document",
    [
        b"[" * 500_000,
        b'{"a":' * 500_000,
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 900 + b"1" + b"}" * 901,
    ],
)
def test_deep_json_is_refused(gateway, document):
    assert gateway.post(document, token=ALICE)[0] == 400


@each("method", ["GET", "DELETE", "PUT"])
def test_other_methods_are_not_allowed(gateway, method):
    assert gateway.post(b"", method=method, token=ALICE)[0] == 405
    assert gateway.headers["allow"] == "POST"


@each(
    "path",
    [
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
        "/register",
        "/mcp/sse",
    ],
)
def test_clients_that_look_for_oauth_find_none(gateway, path):
    assert gateway.post(b"", path=path, method="GET")[0] == 404


def test_a_page_of_another_site_is_refused_before_its_token_is_read(gateway):
    headers = [*head_of(modern("tools/list")), ("origin", "http://evil.example.com")]
    status, document = gateway.post(modern("tools/list"), token=ALICE, headers=headers)
    assert (status, document["error"]["data"]["code"]) == (403, "origin_not_allowed")


def test_notifications_are_accepted_without_a_body(gateway):
    document = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert gateway.post(document, token=ALICE) == (202, None)
