"""An API is added without Python: by a document and four lines of routes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.support.paths import ROOT
from tests.support.recorded import RecordedGateway, recorded_gateway
from tests.support.recording import HttpAnswer, Recorder, answer, ask, assert_error, request
from tests.support.running import ALL, TOKENS, modelway

DOCUMENT = """
openapi: 3.0.3
info: {title: Orders, version: "2.1"}
servers: [{url: "https://{region}.orders.invalid/api/v2", variables: {region: {default: eu}}}]
security: [{apiKey: []}]
paths:
  /orders:
    parameters:
      - {name: X-Tenant, in: header, required: true, schema: {type: integer, minimum: 1}}
    get:
      operationId: listOrders
      parameters:
        - name: status
          in: query
          explode: false
          schema: {type: array, items: {type: string, enum: [open, sent]}}
        - name: page
          in: query
          style: deepObject
          schema:
            type: object
            properties:
              size: {type: integer, maximum: 100}
              after: {type: string, format: uuid}
        - name: sort
          in: query
          style: pipeDelimited
          explode: false
          schema: {type: array, maxItems: 2, items: {type: string}}
        - {name: seen, in: cookie, schema: {type: boolean}}
      responses: {"200": {description: fine}}
    post:
      operationId: createOrder
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: "#/components/schemas/Order"}}}
      responses: {"201": {description: made}}
  /orders/{id}:
    get:
      operationId: getOrder
      parameters: [{name: id, in: path, required: true, schema: {type: string, format: uuid}}]
      responses: {"200": {description: fine}}
  /orders/{id}/lines{numbers}:
    get:
      operationId: getLines
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}}
        - name: numbers
          in: path
          required: true
          style: matrix
          explode: true
          schema: {type: array, items: {type: integer}}
      responses: {"200": {description: fine}}
  /orders/{id}/file:
    put:
      operationId: putFile
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      requestBody: {content: {"*/*": {schema: {type: string, format: binary}}}}
      responses: {"204": {description: put}}
components:
  securitySchemes: {apiKey: {type: apiKey, in: header, name: X-Orders-Key}}
  schemas:
    Order:
      type: object
      required: [id, customer, lines]
      additionalProperties: false
      properties:
        id: {type: string, readOnly: true}
        customer: {type: string, format: email}
        note: {type: string, nullable: true, maxLength: 20}
        priority: {type: string, enum: [low, high]}
        due: {type: string, format: date}
        lines:
          type: array
          minItems: 1
          items:
            type: object
            required: [sku, count]
            properties:
              sku: {type: string, pattern: "^[A-Z]{3}-[0-9]+$"}
              count: {type: integer, minimum: 0, exclusiveMinimum: true}
"""

CONFIG = """
version: 1
server: {listen: "{listen}", workers: 1}
specs: {orders: {document: orders.yaml}}
upstreams:
  orders:
    url: ${MOCK}/inner
    credential: {header: X-Orders-Key, value: the-credential}
    proxy: ""
routes:
  - operations: orders.*
    to: [{upstream: orders}]
"""

KEY = f"X-Orders-Key: {ALL}"
TENANT = "X-Tenant: 7"
ID = "0f8fad5b-d9cb-469f-a165-70867728950e"
ORDER = {"customer": "a@b.no", "note": None, "lines": [{"sku": "ABC-1", "count": 2}]}
PACKAGE = ROOT / "engine"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordedGateway]:
    folder = tmp_path_factory.mktemp("orders")
    (folder / "orders.yaml").write_text(DOCUMENT)
    assert not list(folder.glob("**/*.py"))
    with recorded_gateway(folder, CONFIG + TOKENS) as running:
        yield running


def post(port: int, **fields: object) -> HttpAnswer:
    body = json.dumps({**ORDER, **fields}).encode()
    return ask(port, request("/api/v2/orders", body, headers=[KEY, TENANT]))


def test_config_is_clean_and_says_where_everything_goes(
    recorded: RecordedGateway, tmp_path: Path
) -> None:
    (tmp_path / "orders.yaml").write_text(DOCUMENT)
    (tmp_path / "gateway.yaml").write_text(CONFIG.replace("{listen}", "127.0.0.1:1") + TOKENS)
    environ = {"MOCK": "http://127.0.0.1:2"}
    checked = modelway("check", cwd=tmp_path, environ=environ)
    assert checked.returncode == 0, checked.stdout
    routes = modelway("routes", cwd=tmp_path, environ={**environ, "COLUMNS": "200"})
    assert "/api/v2/orders/{id}" in routes.stdout
    for name in ("orders.listOrders", "orders.createOrder", "orders.getLines", "orders.putFile"):
        assert name in routes.stdout


def test_no_name_of_the_document_stands_in_the_package() -> None:
    texts = [file.read_text() for file in PACKAGE.rglob("*.py")]
    assert not any("X-Orders-Key" in text or "listOrders" in text for text in texts)


def test_request_is_forwarded_with_our_credential(port: int, upstream: Recorder) -> None:
    upstream.speak = answer(b'{"id": "1"}', ("Content-Type: application/json", "ETag: x"), 201)
    response = post(port)
    assert (response.status, response.body, response.value("etag")) == (201, b'{"id": "1"}', "x")
    received = upstream.last
    assert received.line == "POST /inner/orders HTTP/1.1"
    assert json.loads(received.body) == ORDER
    assert received.values("x-orders-key") == ["the-credential"]
    assert ALL not in repr(received)


def test_header_parameter_of_the_document_reaches_the_upstream(
    port: int, upstream: Recorder
) -> None:
    assert post(port).status == 200
    assert upstream.last.values("x-tenant") == ["7"]


def test_query_of_every_style_passes_as_it_was(port: int, upstream: Recorder) -> None:
    query = f"status=open,sent&page%5Bsize%5D=10&page[after]={ID}&sort=a%7Cb"
    response = ask(
        port, request(f"/api/v2/orders?{query}", headers=[KEY, TENANT, "Cookie: seen=true"])
    )
    assert response.status == 200, response
    assert upstream.last.target == f"/inner/orders?{query}"


@pytest.mark.parametrize(
    ("query", "param"),
    [
        (urlencode({"status": "open,lost"}), "status"),
        ("page[size]=101", "page"),
        ("page[size]=ten", "page"),
        ("page[after]=7", "page"),
        ("sort=a|b|c", "sort"),
        ("status=open&status=lost", "status"),
        ("status=lost&status=open", "status"),
    ],
)
def test_query_is_checked(port: int, upstream: Recorder, query: str, param: str) -> None:
    response = ask(port, request(f"/api/v2/orders?{query}", headers=[KEY, TENANT]))
    assert assert_error(response, 400)["param"].startswith(param)
    assert upstream.requests == []


@pytest.mark.parametrize(
    ("headers", "param"),
    [
        ([KEY], "X-Tenant"),
        ([KEY, "X-Tenant: seven"], "X-Tenant"),
        ([KEY, "X-Tenant: 0"], "X-Tenant"),
        ([KEY, TENANT, "Cookie: seen=perhaps"], "seen"),
    ],
)
def test_headers_and_cookies_are_checked(
    port: int, upstream: Recorder, headers: list[str], param: str
) -> None:
    error = assert_error(ask(port, request("/api/v2/orders", headers=headers)), 400)
    assert error["param"].lower() == param.lower()
    assert upstream.requests == []


@pytest.mark.parametrize(
    ("target", "status"),
    [
        (f"/api/v2/orders/{ID}", 200),
        ("/api/v2/orders/7", 400),
        ("/api/v2/orders/7/lines;numbers=1;numbers=2", 200),
        ("/api/v2/orders/7/lines;numbers=1;numbers=x", 400),
        ("/api/v2/orders/7/lines", 404),
        ("/orders", 404),
        ("/v2/orders", 404),
    ],
)
def test_path_is_checked(port: int, upstream: Recorder, target: str, status: int) -> None:
    response = ask(port, request(target, headers=[KEY]))
    assert response.status in ((400, 404) if status == 404 else (status,)), response
    assert len(upstream.requests) == (status == 200)
    if status == 200:
        assert upstream.last.target == target.replace("/api/v2", "/inner")


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"customer": "nobody"}, "customer"),
        ({"customer": None}, "customer"),
        ({"note": "x" * 21}, "note"),
        ({"priority": "urgent"}, "priority"),
        ({"due": "tomorrow"}, "due"),
        ({"lines": []}, "lines"),
        ({"lines": [{"sku": "ABC-1", "count": 2}, {"sku": "abc", "count": 2}]}, "lines[1].sku"),
        ({"lines": [{"sku": "ABC-1", "count": 0}]}, "lines[0].count"),
        ({"custommer": "x"}, "custommer"),
    ],
)
def test_body_is_checked(
    port: int, upstream: Recorder, fields: dict[str, object], param: str
) -> None:
    assert assert_error(post(port, **fields), 400)["param"] == param
    assert upstream.requests == []


def test_a_read_only_member_is_sent_on(port: int, upstream: Recorder) -> None:
    """Clients send back what they have read."""
    assert post(port, id="7").status == 200
    assert json.loads(upstream.last.body)["id"] == "7"


def test_any_other_body_passes_untouched(port: int, upstream: Recorder) -> None:
    upstream.speak = lambda received, sock: sock.sendall(b"HTTP/1.1 204 Fine\r\n\r\n")
    data = request(
        "/api/v2/orders/7/file", b"\x00\xff{", method="PUT", headers=[KEY], media_type="image/png"
    )
    assert ask(port, data).status == 204
    assert upstream.last.body == b"\x00\xff{"
    assert upstream.last.values("content-type") == ["image/png"]


@pytest.mark.parametrize("headers", [[], ["X-Orders-Key: no"], [f"Authorization: Bearer {ALL}"]])
def test_token_stands_where_the_document_says(
    port: int, upstream: Recorder, headers: list[str]
) -> None:
    response = ask(port, request("/api/v2/orders", headers=[*headers, TENANT]))
    assert_error(response, 401, "invalid_api_key")
    assert upstream.requests == []


@pytest.mark.parametrize("status", [301, 304, 401, 403, 404, 409, 500])
def test_every_response_of_a_plain_api_is_relayed(
    port: int, upstream: Recorder, status: int
) -> None:
    body = b"" if status == 304 else b'{"problem": [1, 2]}'
    upstream.speak = answer(
        body,
        ("Content-Type: application/problem+json", f"Location: {upstream.url}/inner/x"),
        status,
    )
    response = post(port)
    assert (response.status, response.body) == (status, body)
    if body:
        assert response.value("content-type") == "application/problem+json"
    assert response.value("location") == "/api/v2/x"


def test_error_of_a_plain_api_that_is_no_json_is_relayed(port: int, upstream: Recorder) -> None:
    upstream.speak = answer(b"<p>no</p>", ("Content-Type: text/html",), 500)
    response = post(port)
    assert (response.status, response.body) == (500, b"<p>no</p>")
