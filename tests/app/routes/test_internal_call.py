"""An operation is called again and again without WSGI, if the request leads to it."""

import json
import socket
import threading
from contextlib import closing

import pytest
from msgspec import structs

from engine.app.build import build
from engine.app.routes.internal_call import (
    CannotCall,
    OperationCall,
    check_headers,
    operation_of,
    send,
)
from engine.app.routes.worker_parts import identity, parts_of
from engine.app.services.machine_stores import open_shared
from engine.app.services.worker_services import services_of
from engine.edge.inside_call import InsideCalls
from engine.exchange import disconnect_watcher
from engine.exchange.caller_connection import InternalCaller
from engine.exchange.internal_request import HERE, Request
from engine.spec.request_writer import RequestValues
from engine.stores.counters.memory import MemoryCounters
from engine.upstream.client.client import Client
from engine.values.caller import Caller
from engine.values.errors import AbortConnection
from tests.support.each import each
from tests.support.recording import ANSWER, answer, recorder
from tests.support.rehearsing import DOCUMENT, planned
from tests.support.scripted import RESET, Leaving, script


@pytest.fixture
def operation(shop):
    plan = shop.plan
    parts = parts_of(
        plan, services_of(plan), Client, open_shared(plan.config), identity, InsideCalls()
    )
    route = next(each_route for each_route in plan.routes if each_route.operation.name == "show")
    return OperationCall(shop.app, route, parts)


def test_a_request_has_its_target_and_the_spans_of_its_variables(operation):
    request = operation.request(RequestValues({"id": "a/b"}, {"fields": ["x"]}), "10.0.0.9", [])
    assert request.target == "/v1/items/a%2Fb?fields=x"
    start, end = request.variables["id"]
    assert (request.path[start:end], request.mount) == ("a%2Fb", "/v1")
    assert request.environ["REMOTE_ADDR"] == "10.0.0.9"


def test_it_is_sent_as_its_caller(operation, shop_upstream):
    request = operation.request(RequestValues({"id": "5"}), "10.0.0.9", [("x-note", "hi")])
    for _ in range(2):
        caller = InternalCaller(Caller("zoe"))
        exchange, response = operation.send(request, caller, "req_1")
        exchange.end()
        assert (response.status, response.body) == (200, b'{"id":"7"}')
        assert (exchange.caller.name, exchange.request_id) == ("zoe", "req_1")
    assert shop_upstream.last.values("x-note") == ["hi"]


@each("value", ["find", "drop"])
def test_a_request_that_leads_to_another_operation_is_none_of_this_one(operation, value):
    with pytest.raises(CannotCall, match=r"id: .* another operation"):
        operation.request(RequestValues({"id": value}), "10.0.0.9", [])


@each(
    "values, message",
    [
        (RequestValues({"id": 7, "x": 1}), "has no path parameter 'x'; it has id"),
        (RequestValues(), "path parameter 'id' of shop.show needs a value"),
        (RequestValues({"id": [[1]]}), "path parameter 'id': a list or object cannot"),
        (RequestValues({"id": "1"}, headers={"Authorization": "x"}), "header 'Authorization'"),
        (RequestValues({"id": "1"}, headers={"a": "x\ny"}), "header parameter 'a': a text here"),
    ],
)
def test_values_that_cannot_be_written_are_refused(operation, values, message):
    with pytest.raises(CannotCall) as refusal:
        operation.request(values, "10.0.0.9", [])
    assert message in str(refusal.value)


CONFIG = """version: 1
specs: {shop: {document: shop.yaml, dialect: openai}}
upstreams: {main: {url: "URL/v1", credential: {bearer: "${MAIN_KEY}"}, proxy: ""}}
models: {big: {to: [{upstream: main, model: real-big}]}}
routes:
  - operation: shop.chat
    model: $request.body#/model
    policies: [{rate_limit: {requests: 2, per: 1h}}, {allow_models: [big]}]
  - {operation: shop.say, model: $request.path.model}
  - {operation: shop.show, to: [{upstream: main}], auth: none}
"""
CHAT = RequestValues(body={"model": "big", "messages": [{"role": "user"}]}, query={"page": 2})
ALICE = Caller("alice")
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"w "}}]}\n\n'


class Inside:
    """The application of a project whose upstream is `upstream`, and the records that it leaves."""

    def __init__(self, folder, upstream, document=DOCUMENT, config=CONFIG, **services):
        self.upstream, self.records = upstream, []
        self.plan = planned(folder, config.replace("URL", upstream.url), document).plan
        self.app = build(self.plan, self._services(services))

    def _services(self, services):
        def observe(exchange):
            caller = exchange.caller.name if exchange.caller is not None else None
            self.records.append((exchange.operation, caller, exchange.record))

        opened = services_of(self.plan)
        return structs.replace(opened, observers=[observe], **services)

    def call(self, operation, values=CHAT, caller=ALICE, address=HERE, **more):
        return send(
            self.app, self.request(operation, values, address), InternalCaller(caller, **more)
        )

    def request(self, operation, values, address=HERE):
        route = next(route for route in self.plan.routes if route.operation.id == operation)
        parts = operation_of(self.plan, route).writer.write(values)
        return Request(parts.method, parts.target, parts.headers, parts.body, address)

    def result(self, *arguments, **more):
        response = self.call(*arguments, **more)
        return response.status, json.loads(response.read())


@pytest.fixture
def upstream():
    with recorder() as recording:
        yield recording


@pytest.fixture
def inside(tmp_path, upstream):
    return Inside(tmp_path, upstream)


def test_a_call_reaches_the_upstream_without_a_token(inside, upstream):
    assert inside.result("shop.chat") == (200, json.loads(ANSWER))
    assert upstream.last.line == "POST /v1/chat?page=2 HTTP/1.1"
    assert json.loads(upstream.last.body)["model"] == "real-big"
    assert upstream.last.values("authorization") == ["Bearer sk-main-credential"]


def test_the_record_is_that_of_the_caller(inside):
    inside.result("shop.chat")
    ((operation, caller, record),) = inside.records
    assert (operation, caller, record.status, record.outcome) == (
        "shop.chat",
        "alice",
        200,
        "complete",
    )
    assert (record.model, record.upstream) == ("big", "main")


def test_values_are_checked_as_those_of_any_request(inside, upstream):
    wrong = structs.replace(CHAT, query={"page": "two"})
    status, body = inside.result("shop.chat", wrong)
    assert (status, body["error"]["param"]) == (400, "page")
    status, body = inside.result("shop.chat", RequestValues(body={"model": "big", "messages": []}))
    assert (status, body["error"]["code"]) == (400, "array_below_min_length")
    assert upstream.requests == []


@pytest.mark.parametrize(
    ("caller", "status", "code"),
    [
        (None, 401, "invalid_api_key"),
        (Caller("late", expires=1.0), 401, "invalid_api_key"),
        (Caller("other", operations=("shop.say",)), 403, "operation_not_allowed"),
        (Caller("away", ips=("10.0.0.0/8",)), 403, "address_not_allowed"),
        (Caller("small", models=("small",)), 403, "model_not_allowed"),
    ],
)
def test_a_caller_may_do_what_its_token_permits(inside, upstream, caller, status, code):
    result = inside.result("shop.chat", caller=caller)
    assert (result[0], result[1]["error"]["code"]) == (status, code)
    assert upstream.requests == []


def test_the_address_is_that_of_the_caller(inside):
    caller = Caller("here", ips=("10.0.0.0/8",))
    assert inside.result("shop.chat", caller=caller, address="10.1.2.3") == (
        200,
        json.loads(ANSWER),
    )


def test_calls_count_against_the_limits_of_their_caller(tmp_path, upstream):
    inside = Inside(tmp_path, upstream, counters=MemoryCounters(tmp_path / "counters"))
    assert [inside.call("shop.chat").status for _ in range(3)] == [200, 200, 429]
    assert inside.call("shop.chat", caller=Caller("bob")).status == 200


def test_a_public_operation_needs_no_caller(inside, upstream):
    assert inside.result("shop.show", RequestValues(path={"id": 7}), caller=None) == (
        200,
        json.loads(ANSWER),
    )
    assert upstream.last.line == "GET /v1/items/7 HTTP/1.1"


def test_a_stream_arrives_piece_by_piece(inside, upstream):
    go_on = threading.Event()
    upstream.speak = script(HEAD, EVENT, go_on, EVENT, b"data: [DONE]\n\n", "close")
    body = {**CHAT.body, "stream": True}
    response = inside.call("shop.chat", RequestValues(body=body))
    pieces = iter(response)
    assert b"w " in next(pieces)
    assert inside.records == []
    go_on.set()
    assert b"[DONE]" in b"".join(pieces)
    assert inside.records[0][2].outcome == "complete"
    response.close()
    assert len(inside.records) == 1


def test_close_ends_the_request_to_the_upstream(inside, upstream):
    upstream.speak = leaving = Leaving(HEAD, EVENT)
    response = inside.call("shop.chat", RequestValues(body={**CHAT.body, "stream": True}))
    next(iter(response))
    response.close()
    assert leaving.is_left()
    assert inside.records[0][2].outcome == "caller_left"


def test_a_caller_who_leaves_before_the_first_byte_ends_the_call(inside, upstream, monkeypatch):
    monkeypatch.setattr(disconnect_watcher, "INTERVAL", 0.01)
    upstream.speak = leaving = Leaving()
    near, far = socket.socketpair()
    far.close()
    with near, pytest.raises(AbortConnection):
        inside.call("shop.chat", fileno=near.fileno())
    assert leaving.is_left()
    assert inside.records[0][2].outcome == "caller_left"


def test_an_answer_that_breaks_off_is_an_error_and_no_end(inside, upstream):
    upstream.speak = script(HEAD, EVENT, RESET)
    response = inside.call("shop.chat", RequestValues(body={**CHAT.body, "stream": True}))
    with closing(response), pytest.raises(AbortConnection):
        list(response)
    assert inside.records[0][2].outcome == "upstream_cut"


def test_an_error_of_the_upstream_is_its_response(inside, upstream):
    upstream.speak = answer(b'{"error": {"message": "no"}}', status=422)
    assert inside.result("shop.chat") == (422, {"error": {"message": "no"}})


def with_websocket(responses):
    before, operation, after = DOCUMENT.partition("operationId: show\n")
    return before + operation + after.replace('responses: {"200"', f"responses: {responses}", 1)


def test_a_websocket_is_refused_by_name(tmp_path, upstream):
    inside = Inside(tmp_path, upstream, with_websocket('{"101"'))
    with pytest.raises(CannotCall, match=r"shop\.show is a WebSocket"):
        inside.call("shop.show")


def test_a_websocket_that_has_an_answer_too_is_called(tmp_path, upstream):
    document = with_websocket('{"101": {description: a session}, "200"')
    inside = Inside(tmp_path, upstream, document)
    assert inside.result("shop.show", RequestValues(path={"id": 7}))[0] == 200
    assert upstream.last.values("upgrade") == []


@pytest.mark.parametrize("name", ["Authorization", "x-forwarded-for", "content-type"])
def test_a_header_that_says_who_calls_is_refused(name):
    with pytest.raises(CannotCall, match=f"header '{name}' cannot be given to shop.show"):
        check_headers("shop.show", [name])


TWICE = """openapi: 3.2.0
info: {title: Twice, version: "1"}
servers: [{url: /v1}]
security: [{bearer: []}]
paths:
  /a/{kind}:
    post: &post
      operationId: short
      parameters: [{name: kind, in: path, required: true, schema: {type: string}}]
      requestBody: {content: {application/json: {schema: {required: [short]}}}}
      responses: {"200": {description: ok}}
  /a/{which}:
    post:
      <<: *post
      operationId: long
      parameters: [{name: which, in: path, required: true, schema: {type: string}}]
      requestBody: {content: {application/json: {schema: {required: [long]}}}}
components: {securitySchemes: {bearer: {type: http, scheme: bearer}}}
"""


def test_an_alternative_is_called_by_what_it_accepts(tmp_path, upstream):
    config = CONFIG.partition("routes:")[0] + (
        "routes: [{operations: [shop.short, shop.long], to: [{upstream: main}]}]"
    )
    inside = Inside(tmp_path, upstream, TWICE, config)
    values = RequestValues(path={"which": "x"}, body={"long": 1})
    assert inside.result("shop.long", values) == (200, json.loads(ANSWER))
    assert [(name, caller) for name, caller, _ in inside.records] == [("shop.long", "alice")]


def test_a_request_without_an_internal_caller_needs_a_token(inside):
    request = Request("POST", "/v1/chat", [("content-type", "application/json")], b"{}")
    with closing(send(inside.app, request)) as response:
        assert response.status == 401
