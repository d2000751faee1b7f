"""Transforms on the caller's side: which ones apply, and what is checked again."""

import gzip
import logging

import orjson
import pytest

from engine.config.transforms import TransformConfig
from engine.exchange.exchange import Response
from engine.exchange.push_stream import Pipeline, PushStream
from engine.exchange.request_body import Body
from engine.source.problem import Findings
from engine.spec.expression import parse
from engine.spec.spec import read
from engine.stages.transform import ModelLocations, transform
from engine.transforms.compile import compile_all
from engine.values.errors import GatewayError
from tests.support.each import each
from tests.support.exchanges import new_exchange

DOCUMENT = """
openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /chat:
    post:
      operationId: chat
      parameters:
        - {name: page, in: query, schema: {type: integer}}
        - {name: x-n, in: header, schema: {type: integer}}
      requestBody:
        required: true
        content:
          application/json: {schema: &chat
            {type: object, required: [model], additionalProperties: false,
             properties: {model: {type: string}, n: {type: integer}, also: {type: string}}}}
          application/x-www-form-urlencoded: {schema: *chat}
      responses: {}
"""


@pytest.fixture(scope="module")
def operation(tmp_path_factory):
    file = tmp_path_factory.mktemp("spec") / "shop.yaml"
    file.write_text(DOCUMENT)
    findings = Findings()
    spec = read("shop", file, "shop.yaml", (), findings)
    assert findings.problems == []
    return spec.operations["chat"]


def compiled(*requests):
    configs = [TransformConfig({"request": request}, ("policies", 0)) for request in requests]
    return compile_all(configs, upstream=False)


def run(operation, *requests, of_models=None, strict=True, body=b'{"model": "m"}', **fields):
    kind = fields.pop("kind", "application/json")
    value = orjson.loads(body) if kind == "application/json" else {}
    exchange = new_exchange(
        environ={"CONTENT_TYPE": kind, **fields.pop("environ", {})},
        body=Body(body),
        value=value,
        media_type=kind,
        model="m",
        operation="shop.chat",
        **fields,
    )
    locations = ModelLocations(parse("$request.body#/model"), (parse("$request.body#/also"),))
    stage = transform(
        compiled(*requests), of_models or {}, operation, strict=strict, locations=locations
    )
    bodies = []
    stage(exchange, lambda exchange: bodies.append(exchange) or Response(200, []))
    assert bodies == [exchange]
    return exchange


def test_the_transforms_of_the_model_follow_those_of_the_route(operation):
    of_models = {
        "small": compiled({"body": {"default": {"n": 2}}}),
        "other": compiled({"body": {"set": {"n": 3}}}),
    }
    route = {"body": {"default": {"n": 1}}}
    record = {"requested_entry": "small"}
    assert run(operation, route, of_models=of_models, record=record).content.value["n"] == 1
    assert run(operation, of_models=of_models, record=record).content.value["n"] == 2
    assert "n" not in run(operation, of_models=of_models).content.value


def test_a_route_without_transforms_leaves_the_request_alone(operation):
    exchange = run(operation, of_models={"small": ()})
    assert exchange.body.in_memory == b'{"model": "m"}'


def test_the_places_of_the_model_are_found_again(operation):
    body = b'{"n": 1, "model": "m", "also": "m"}'
    exchange = run(operation, {"body": {"remove": ["n"]}}, body=body)
    after = exchange.body.in_memory
    start, end = exchange.model.span
    assert after[start:end] == b'"m"'
    assert [after[s:e] for s, e, _ in exchange.model.copies] == [b'"m"']


def test_a_form_is_parsed_again(operation):
    form = "application/x-www-form-urlencoded"
    exchange = run(operation, {"body": {"set": {"n": 7}}}, kind=form, body=b"model=m")
    assert exchange.content.value == {"model": "m", "n": 7}


@pytest.mark.parametrize(
    ("request_edits", "fields"),
    [
        ({"body": {"set": {"n": "x"}}}, {}),
        ({"body": {"set": {"unknown": 1}}}, {}),
        ({"body": {"set": {"n": "x"}}}, {"kind": "application/x-www-form-urlencoded"}),
        ({"query": {"set": {"page": "x"}}}, {}),
        ({"header": {"set": {"x-n": "x"}}}, {}),
        ({"header": {"rename": {"x-m": "x-n"}}}, {"environ": {"HTTP_X_M": "x"}}),
    ],
)
def test_a_request_that_an_edit_breaks_is_not_sent(operation, caplog, request_edits, fields):
    body = b"model=m" if "kind" in fields else b'{"model": "m"}'
    with caplog.at_level(logging.ERROR), pytest.raises(GatewayError) as excinfo:
        run(operation, request_edits, body=body, **fields)
    assert (excinfo.value.status, excinfo.value.code) == (500, "internal_error")
    assert "policies.0" in caplog.text
    assert "shop.chat" in caplog.text


def test_the_log_does_not_say_the_value_of_an_edit(operation, caplog):
    edits = {"body": {"set": {"n": "hush-hush"}}}
    with caplog.at_level(logging.ERROR), pytest.raises(GatewayError):
        run(operation, edits, body=b'{"model": "m"}')
    assert "'n': expected an integer" in caplog.text
    assert "hush-hush" not in caplog.text


@pytest.mark.parametrize(
    "request_edits",
    [
        {"query": {"set": {"page": "2"}}},
        {"header": {"set": {"x-n": "2"}, "remove": ["x-other"]}},
        {"header": {"remove": ["x-n"]}},
    ],
)
def test_a_request_that_stays_right_is_sent(operation, request_edits):
    run(operation, request_edits, environ={"HTTP_X_N": "1"})


def test_a_value_that_no_header_can_have_is_the_fault_of_the_caller(operation):
    edit = {"header": {"set": {"x-v": "{request.query.v}"}}}
    with pytest.raises(GatewayError) as excinfo:
        run(operation, edit, query="v=a%0D%0Ax:y")
    assert excinfo.value.status == 400


def test_nothing_is_checked_again_where_the_route_is_not_strict(operation):
    assert run(operation, {"body": {"set": {"n": "x"}}}, strict=False).content.value["n"] == "x"


def transformed_response(operation, response, edits, *, method="POST"):
    exchange = new_exchange(method, model="m")
    config = TransformConfig({"response": edits}, ("policies", 0))
    stage = transform(
        compile_all([config], upstream=False), {}, operation, strict=True, locations=None
    )
    return stage(exchange, lambda exchange: response)


JSON = [("content-type", "application/json"), ("etag", "e"), ("x-a", "1")]
EDITS = {"body": {"remove": ["a"]}, "header": {"rename": {"x-a": "x-b"}}}
AFTER = [("content-type", "application/json"), ("x-b", "1")]


def test_a_whole_response_is_edited(operation):
    response = transformed_response(operation, Response(200, JSON, b'{"a":1,"b":2}'), EDITS)
    assert (response.headers, response.body) == (AFTER, b'{"b":2}')


@each(
    ("edits", "is_sent"),
    [({"body": {"remove": ["a"]}}, False), ({"header": {"rename": {"x-a": "x-b"}}}, True)],
)
def test_no_part_is_asked_for_where_a_body_is_edited(operation, edits, is_sent):
    config = TransformConfig({"response": edits}, ("policies", 0))
    stage = transform(
        compile_all([config], upstream=False), {}, operation, strict=True, locations=None
    )
    request = new_exchange(
        "GET", environ={"HTTP_RANGE": "bytes=0-", "HTTP_IF_RANGE": "e", "HTTP_X_A": "1"}
    )
    seen = []

    def handler(exchange):
        seen.append({exchange.header(f"HTTP_{name}") for name in ("RANGE", "IF_RANGE", "X_A")})
        return Response(200, JSON, b"{}")

    stage(request, handler)
    assert seen == [{"bytes=0-", "e", "1"} if is_sent else {None, "1"}]


def test_a_value_that_no_header_of_the_response_can_have_is_refused_before_it_is_sent(operation):
    edits = {"response": {"header": {"set": {"x-v": "{request.query.v}"}}}}
    config = TransformConfig(edits, ("policies", 0))
    stage = transform(
        compile_all([config], upstream=False), {}, operation, strict=True, locations=None
    )
    handled = []
    with pytest.raises(GatewayError) as excinfo:
        stage(new_exchange("POST", model="m", query="v=%0A"), handled.append)
    assert (excinfo.value.status, handled) == (400, [])


def test_an_encoded_response_is_decoded(operation):
    headers = [*JSON, ("content-encoding", "gzip")]
    response = transformed_response(
        operation, Response(200, headers, gzip.compress(b'{"a":1}')), EDITS
    )
    assert (response.headers, response.body) == (AFTER, b"{}")


def test_encoded_events_are_decoded_and_edited(operation):
    headers = [("content-type", "text/event-stream"), ("content-encoding", "gzip")]
    events = b'data: {"a":1}\n\ndata: [DONE]\n\n'
    response = transformed_response(operation, Response(200, headers, gzip.compress(events)), EDITS)
    assert response.body == b"data: {}\n\ndata: [DONE]\n\n"


@pytest.mark.parametrize("body", [b"?", iter([b"?"])])
def test_a_response_that_cannot_be_decoded_is_not_sent(operation, body):
    headers = [*JSON, ("content-encoding", "br")]
    with pytest.raises(GatewayError) as excinfo:
        transformed_response(operation, Response(200, headers, body), EDITS)
    assert excinfo.value.status == 502


def test_json_in_pieces_is_edited_when_it_is_complete(operation):
    headers = [*JSON, ("content-length", "7")]
    response = transformed_response(
        operation, Response(200, headers, iter([b'{"a"', b":1}"])), EDITS
    )
    assert response.headers == AFTER
    assert list(response.body) == [b"{}"]


def test_events_of_a_stream_are_edited_behind_the_steps_that_read_them(operation):
    bodies = []
    pipeline = Pipeline()
    pipeline.add(lambda data: bodies.append(data) or data)
    events = [b'data: {"a":1}\n\n', b"data: [DONE]\n\n"]
    stream = PushStream(iter(events), pipeline)
    headers = [("content-type", "text/event-stream")]
    response = transformed_response(operation, Response(200, headers, stream), EDITS)
    assert list(response.body) == [b"data: {}\n\n", b"data: [DONE]\n\n"]
    assert bodies == events


@pytest.mark.parametrize(
    ("method", "status", "kind"),
    [
        ("HEAD", 200, "application/json"),
        ("GET", 204, "application/json"),
        ("GET", 206, "application/json"),
        ("GET", 404, "application/json"),
        ("GET", 200, "audio/mpeg"),
    ],
)
def test_only_headers_of_other_responses_are_edited(operation, method, status, kind):
    headers = [("content-type", kind), ("etag", "e"), ("content-length", "7"), ("x-a", "1")]
    response = transformed_response(
        operation, Response(status, headers, b'{"a":1}'), EDITS, method=method
    )
    assert response.headers == [*headers[:3], ("x-b", "1")]
    assert response.body == b'{"a":1}'
