"""Operations of a document for one method and path: a request belongs to the first that accepts
it."""

import json

import pytest
from falcon.testing import TestClient
from msgspec.structs import replace

from engine.app.build import build
from engine.app.services.worker_services import services_of
from engine.edge.body_reader import RequestBodyReader
from engine.offline.rehearsal.observation import UpstreamAnswers
from engine.offline.rehearsal.stand_ins import recorder
from engine.spec.bodies.request_bodies import Bodies
from engine.stages import alternatives
from engine.stages.report import mismatches
from engine.values.caller import digest
from tests.support.each import each
from tests.support.rehearsing import planned

TOKEN = {"Authorization": "Bearer the-secret"}
JSON = "application/json"
DOCUMENT = """openapi: 3.1.0
info: {title: Shop, version: "1"}
servers: [{url: /v1}]
security: [{bearer: []}]
paths:
  /files/{id}:
    get:
      operationId: byId
      parameters: [{name: id, in: path, required: true, schema: {type: string, format: uuid}}]
      responses: {"200": {description: ok}}
  /files/{number}:
    get:
      operationId: byNumber
      parameters: [{name: number, in: path, required: true, schema: {type: integer}}]
      responses: {"200": {description: ok}}
    delete:
      operationId: delete
      parameters: [{name: number, in: path, required: true, schema: {type: integer}}]
      responses: {"200": {description: ok}}
  /files/{name}:
    get:
      operationId: byName
      parameters: [{name: name, in: path, required: true, schema: {type: string, maxLength: 9}}]
      responses: {"200": {description: ok}}
  /a/{x}/b:
    get:
      operationId: xb
      parameters: [{name: x, in: path, required: true, schema: {type: string}}]
      responses: {"200": {description: ok}}
  /a/b/{y}:
    get:
      operationId: by
      parameters: [{name: y, in: path, required: true, schema: {type: integer}}]
      responses: {"200": {description: ok}}
  /t#stream:
    post:
      operationId: tStream
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: "#/components/schemas/Stream"}}}
      responses: {"200": {description: ok}}
  /t:
    post:
      operationId: t
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [text, size]
              properties:
                stream: {enum: [false]}
                text: {type: string}
                size: {type: integer}
                inner: {type: object, properties: {deep: {type: integer}}}
      responses: {"200": {description: ok}}
  /t?beta=true:
    post:
      operationId: tBeta
      requestBody:
        required: true
        content: {application/json: {schema: {type: object, required: [beta]}}}
      responses: {"200": {description: ok}}
  /up#json:
    post:
      operationId: upJson
      requestBody:
        required: true
        content: {application/json: {schema: {type: object, required: [url]}}}
      responses: {"200": {description: ok}}
  /up#form:
    post:
      operationId: upForm
      requestBody:
        required: true
        content: {multipart/form-data: {schema: {type: object, required: [file]}}}
      responses: {"200": {description: ok}}
  /key#a:
    get:
      operationId: keyA
      security: [{bearer: []}]
      responses: {"200": {description: ok}}
  /key#b:
    get:
      operationId: keyB
      security: [{key: []}]
      responses: {"200": {description: ok}}
components:
  securitySchemes:
    bearer: {type: http, scheme: bearer}
    key: {type: apiKey, in: header, name: x-key}
  schemas:
    Stream:
      type: object
      required: [stream]
      properties: {stream: {enum: [true]}, text: {type: string}}
"""
CONFIG = f"""version: 1
specs: {{shop: {{document: shop.yaml}}}}
upstreams: {{main: {{url: "http://main.test"}}, other: {{url: "http://other.test"}}}}
routes:
  - {{operation: shop.byName, to: [{{upstream: other}}]}}
  - {{operation: shop.tStream, to: [{{upstream: other}}], policies: [{{max_body: 200B}}]}}
  - {{operations: shop.*, to: [{{upstream: main}}]}}
tokens:
  - {{name: alice, sha256: {digest("the-secret")}}}
  - {{name: bob, sha256: {digest("of-bob")}, operations: [shop.byName]}}
"""


class App:
    """The application of the project; `operations` are those of its requests, in their order."""

    def __init__(self, folder, config=CONFIG, document=DOCUMENT):
        plan = planned(folder, config, document).plan
        self.sent, self.operations = [], []
        services = services_of(plan)
        self.observers = [*services.observers, lambda e: self.operations.append(e.operation)]
        services = replace(services, observers=self.observers)
        client = recorder(self.sent, UpstreamAnswers())
        self.client = TestClient(build(plan, services, client=client))

    def request(self, method, target, headers=TOKEN, body=None, media_type=JSON):
        path, _, query = target.partition("?")
        headers = dict(headers)
        if body is not None:
            headers["content-type"] = media_type
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.client.simulate_request(
            method,
            f"/v1{path}",
            query_string=query,
            headers=headers,
            body=body,
            extras={"RAW_URI": f"/v1{target}"},
        )


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    return App(tmp_path_factory.mktemp("project"))


UUID = "c7a1c1b0-8f5e-4c0a-9f0e-2b1d6f0c9a11"
FORM = b"--x\r\ncontent-disposition: form-data; name=file\r\n\r\n1\r\n--x--\r\n"
LONG_FORM = FORM.replace(b"\r\n1\r\n", b"\r\n" + b"1" * 1_100_000 + b"\r\n")


@each(
    ("request_", "operation", "upstream"),
    [
        (("GET", f"/files/{UUID}"), "byId", "main"),
        (("GET", "/files/17"), "byNumber", "main"),
        (("GET", "/files/a.txt"), "byName", "other"),
        (("DELETE", "/files/17"), "delete", "main"),
        (("GET", "/a/b/b"), "xb", "main"),
        (("GET", "/a/b/7"), "by", "main"),
        (("GET", "/a/c/b"), "xb", "main"),
        (("POST", "/t", TOKEN, {"stream": True}), "tStream", "other"),
        (("POST", "/t", TOKEN, {"text": "x", "size": 1}), "t", "main"),
        (("POST", "/t?beta=true", TOKEN, {"beta": 1}), "tBeta", "main"),
        (("POST", "/t?beta=false", TOKEN, {"stream": True}), "tStream", "other"),
        (("POST", "/up", TOKEN, {"url": "x"}), "upJson", "main"),
        (("POST", "/up", TOKEN, FORM, "multipart/form-data; boundary=x"), "upForm", "main"),
        (("GET", "/key"), "keyA", "main"),
        (("GET", "/key", {"x-key": "the-secret"}), "keyB", "main"),
    ],
)
def test_a_request_belongs_to_the_first_that_accepts_it(app, request_, operation, upstream):
    response = app.request(*request_)
    assert response.status_code == 200, response.json
    assert app.operations[-1] == f"shop.{operation}"
    assert upstream in app.sent[-1].url


def test_the_variables_are_those_of_the_operation(app):
    app.request("GET", "/files/a.txt")
    assert app.sent[-1].url.endswith("/files/a.txt")


@each(
    ("request_", "operation", "code", "part"),
    [
        (("GET", "/files/longer-than-nine"), "byId", 400, "format uuid"),
        (("GET", "/a/b/c"), "by", 400, "integer"),
        (("POST", "/t", TOKEN, {"stream": True, "text": 1}), "tStream", 400, "'text'"),
        (("POST", "/t", TOKEN, {"text": "x", "size": "y"}), "t", 400, "'size'"),
        (("POST", "/t", TOKEN, b"{"), "tStream", 400, "not valid JSON"),
        (("POST", "/t", TOKEN, b"x", "text/plain"), "tStream", 415, "Content-Type"),
        (("POST", "/t"), "tStream", 400, "needs a body"),
        (("POST", "/t?beta=true", TOKEN, {"stream": True}), "tBeta", 400, "'beta'"),
        (("POST", "/up", TOKEN, {"file": "x"}), "upJson", 400, "'url'"),
        (("POST", "/up", TOKEN, b"--", "multipart/form-data; boundary=x"), "upForm", 400, "mult"),
        (
            ("POST", "/up", TOKEN, LONG_FORM, "multipart/form-data; boundary=x"),
            *("upForm", 400, "bytes. Of the 2"),
        ),
        (("GET", "/key", {}), "keyA", 401, "has no token"),
        (("GET", "/key", {"x-key": "unknown"}), "keyB", 401, "not known"),
        (("POST", "/t", {}, {"stream": 1}), "tStream", 401, "has no token"),
    ],
)
def test_a_refusal_is_that_of_the_nearest(app, request_, operation, code, part):
    before = len(app.sent)
    response = app.request(*request_)
    error = response.json["error"]
    assert (response.status_code, app.operations[-1]) == (code, f"shop.{operation}")
    assert part in error["message"]
    assert (f"'shop.{operation}' is the nearest" in error["message"]) is (
        code in (400, 415) and operation not in ("tBeta", "by")  # no other with the query, path
    )
    assert len(app.sent) == before


def test_a_permission_does_not_decide_which_operation_it_is(app):
    bob = {"Authorization": "Bearer of-bob"}
    assert app.request("GET", "/files/a.txt", bob).status_code == 200
    response = app.request("GET", "/files/17", bob)
    assert (response.status_code, app.operations[-1]) == (403, "shop.byNumber")


def test_the_policies_are_those_of_the_operation(app):
    long = {"stream": True, "note": "x" * 200}
    assert app.request("POST", "/t", TOKEN, long).status_code == 413
    assert app.operations[-1] == "shop.tStream"
    fits = {"size": 1, "text": "x" * 200}
    assert app.request("POST", "/t", TOKEN, fits).status_code == 200


@each(
    "body",
    [
        b'{"stream": true, "stream": false, "text": "x", "size": 1}',
        b'{"text": "x", "size": 1, "inner": {"deep": 1, "deep": 2}}',
    ],
)
def test_a_body_that_parsers_read_differently_chooses_no_operation(app, body):
    before = len(app.sent)
    response = app.request("POST", "/t", TOKEN, body)
    assert (response.status_code, app.operations[-1]) == (400, "shop.t")
    assert "a repeated name" in response.json["error"]["message"]
    assert len(app.sent) == before


def test_other_methods_are_those_of_all_alternatives(app):
    response = app.request("PUT", "/files/x")
    assert (response.status_code, response.headers["allow"]) == (405, "DELETE, GET")


@pytest.fixture
def work(monkeypatch):
    """How often a body was received and parsed."""
    done = {"received": 0, "parsed": 0}

    def count(word, holder, name):
        original = getattr(holder, name)

        def counted(*arguments):
            done[word] += 1
            return original(*arguments)

        monkeypatch.setattr(holder, name, counted)

    count("received", RequestBodyReader, "receive")
    count("parsed", Bodies, "parse")
    return done


@each(
    ("headers", "body", "expected"),
    [
        ({}, {"stream": True}, (0, 0)),
        (TOKEN, {"stream": True}, (1, 1)),
        (TOKEN, {"text": "x", "size": 1}, (1, 2)),
        (TOKEN, {"text": "x" * 1_500_000, "size": 1}, (1, 2)),
        (TOKEN, {"text": "x" * 1_500_000}, (1, 2)),
    ],
)
def test_a_body_is_received_once_and_judged_once_by_each(app, work, headers, body, expected):
    work.update(received=0, parsed=0)
    app.request("POST", "/t", headers, body)
    assert (work["received"], work["parsed"]) == expected


def test_a_large_body_arrives_as_it_was_sent(app):
    body = json.dumps({"text": "x" * 1_500_000, "size": 1}).encode()
    assert app.request("POST", "/t", TOKEN, body).status_code == 200
    assert app.sent[-1].body == body


def test_only_some_of_many_alternatives_judge_a_body(tmp_path, work, monkeypatch):
    monkeypatch.setattr(alternatives, "MAX_TRIALS", 3)
    paths = "".join(
        f"  /x#{n}: {{post: {{operationId: x{n}, requestBody: {{content: {{application/json: "
        f"{{schema: {{const: {n}}}}}}}}}, responses: {{}}}}}}\n"
        for n in range(5)
    )
    document = DOCUMENT.replace("paths:\n", f"paths:\n{paths}")
    app = App(tmp_path, document=document)
    assert app.request("POST", "/x", TOKEN, 2).status_code == 200
    assert (app.operations, work["parsed"]) == (["shop.x2"], 3)
    assert app.request("POST", "/x", TOKEN, 4).status_code == 400
    assert work["parsed"] == 6


@each(
    ("validate", "request_", "operation"),
    [
        ("off", ("GET", "/files/17"), "byNumber"),
        ("off", ("GET", "/files/longer-than-nine"), "byName"),
        ("report", ("GET", "/files/longer-than-nine"), "byName"),
        ("off", ("POST", "/t", TOKEN, {"text": "x", "size": 1}), "t"),
        ("off", ("POST", "/t", TOKEN, {"text": 1}), "tStream"),
        ("off", ("POST", "/t", TOKEN, b"{"), "tStream"),
        ("off", ("POST", "/t", TOKEN, b"abc", "text/plain"), "tStream"),
        ("report", ("POST", "/t", TOKEN, {"text": 1}), "tStream"),
    ],
)
def test_a_route_that_refuses_nothing_serves_what_no_alternative_accepts(
    tmp_path, validate, request_, operation
):
    config = CONFIG.replace("upstream: other}]", f"upstream: other}}], validate: {validate}")
    app = App(tmp_path / validate / operation, config)
    with mismatches.capture([]):
        response = app.request(*request_)
    assert (response.status_code, app.operations) == (200, [f"shop.{operation}"])


@each(
    ("unknown", "body", "operation", "sent"),
    [
        ("drop", {"stream": True, "other": 1}, "tStream", {"stream": True}),
        ("drop", {"text": "x", "size": 1, "other": 1}, "t", {"text": "x", "size": 1}),
        ("reject", {"text": "x", "size": 1}, "t", {"text": "x", "size": 1}),
        ("reject", {"text": "x", "size": 1, "other": 1}, "t", None),
    ],
)
def test_unknown_members_are_judged_by_the_route_of_each(tmp_path, unknown, body, operation, sent):
    config = CONFIG.replace("upstream: main}]", f"upstream: main}}], unknown_fields: {unknown}")
    config = config.replace("upstream: other}]", f"upstream: other}}], unknown_fields: {unknown}")
    app = App(tmp_path / f"{unknown}-{len(body)}-{operation}", config)
    response = app.request("POST", "/t", TOKEN, body)
    assert app.operations == [f"shop.{operation}"]
    assert [json.loads(r.body) for r in app.sent] == ([sent] if sent is not None else [])
    assert response.status_code == (200 if sent is not None else 400)


@each(
    ("readonly", "body", "operation", "sent"),
    [
        ("strip", {"stream": True, "id": 1}, "tStream", {"stream": True}),
        ("strip", {"stream": True, "id": "x"}, "tStream", {"stream": True}),
        ("refuse", {"stream": True, "id": "x"}, "tStream", None),
        ("refuse", {"text": "x", "size": 1, "id": "x"}, "t", {"text": "x", "size": 1, "id": "x"}),
    ],
)
def test_read_only_members_are_judged_by_the_route_of_each(
    tmp_path, readonly, body, operation, sent
):
    config = CONFIG.replace("upstream: other}]", f"upstream: other}}], readonly: {readonly}")
    member = "properties: {stream: {enum: [true]}, id: {type: string, readOnly: true}, "
    document = DOCUMENT.replace("properties: {stream: {enum: [true]}, ", member)
    app = App(tmp_path / f"{readonly}-{len(body)}-{operation}-{body['id']}", config, document)
    response = app.request("POST", "/t", TOKEN, body)
    assert app.operations == [f"shop.{operation}"]
    assert [json.loads(r.body) for r in app.sent] == ([sent] if sent is not None else [])
    assert response.status_code == (200 if sent is not None else 400)


def test_an_operation_without_a_route_is_no_alternative(tmp_path):
    routes = "  - {operations: [shop.byId, shop.byName], to: [{upstream: main}]}\n"
    before, _, after = CONFIG.partition("routes:\n")
    config = f"{before}routes:\n{routes}tokens:{after.partition('tokens:')[2]}"
    app = App(tmp_path, config.replace(', other: {url: "http://other.test"}', ""))
    assert app.request("GET", "/files/17").status_code == 200
    assert app.operations == ["shop.byName"]


def test_refused_requests_are_limited_and_of_their_caller(tmp_path):
    config = CONFIG.replace("max_body: 200B", "rate_limit: {requests: 2, per: 1h}")
    app, callers = App(tmp_path, config), []
    app.observers.append(lambda e: callers.append((e.caller and e.caller.name, e.body.size)))
    bodies = [{"stream": 1}, {"stream": True}, {"stream": True}, {"stream": 1}]
    responses = [app.request("POST", "/t", TOKEN, body) for body in bodies]
    assert [r.status_code for r in responses] == [400, 200, 200, 429]
    assert callers == [("alice", len(json.dumps(body))) for body in bodies]
    assert app.request("POST", "/t", TOKEN, {"text": "x", "size": 1}).status_code == 200
