"""Requests are written from values as the document describes them."""

import json
import os

import pytest

from engine.plan.assembly.make_plan import make_plan
from engine.spec.bodies.form_writers import File
from engine.spec.request_writer import RequestValues
from tests.support.each import each

DOCUMENT = """
openapi: 3.2.0
info: {title: Shop, version: "1"}
servers: [{url: /v1}]
paths:
  /items/{id}/{file}:
    parameters:
      - {name: id, in: path, required: true, style: label, schema: {type: array}}
      - {name: tags, in: query, explode: false, schema: {type: array}}
    post:
      operationId: put
      parameters:
        - {name: file, in: path, required: true, schema: {type: string}}
        - {name: where, in: query, style: deepObject, schema: {type: object}}
        - {name: X-Many, in: header, schema: {type: array}}
        - {name: tags, in: query, style: pipeDelimited, schema: {type: array}}
        - {name: seen, in: cookie, schema: {type: string}}
        - {name: odd, in: query, style: matrix, schema: {type: string}}
      requestBody:
        content: {application/xml: {}, "application/*": {}}
      responses: {"200": {description: ok}}
  /search:
    get:
      operationId: search
      parameters: [{name: q, in: querystring, content: {application/json: {}}}]
      responses: {"200": {description: ok}}
  /list:
    get:
      operationId: list
      parameters:
        - {name: more, in: query, schema: {type: object}}
        - {name: deep, in: query, style: deepObject, schema: {type: object}}
        - {name: "expand[]", in: query, schema: {type: array}}
        - {name: tenant, in: query, schema: {type: string}}
      responses: {"200": {description: ok}}
  /form?kind=a:
    post:
      operationId: form
      requestBody:
        content:
          application/x-www-form-urlencoded:
            schema: {type: object, properties: {tenant: {}}}
            encoding: {more: {style: form, explode: true}}
      responses: {"200": {description: ok}}
"""
CONFIG = """version: 1
specs: {shop: {document: shop.yaml}}
upstreams: {one: {url: "http://127.0.0.1:9"}}
routes: [{operations: shop.*, to: [{upstream: one}], auth: none}]
"""
PATH = {"id": [1, "b.c"], "file": "a/b"}


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    folder = tmp_path_factory.mktemp("writer")
    (folder / "shop.yaml").write_text(DOCUMENT)
    result = make_plan(folder / "gateway.yaml", os.environ, CONFIG)
    assert result.plan is not None, [str(problem) for problem in result.problems]
    return result.plan


def request_of(plan, name, *, slash_variables=(), **values):
    specification = plan.specifications["shop"]
    writer = specification.writer(specification.operations[name], slash_variables)
    return writer.write(RequestValues(**values))


def test_every_parameter_has_the_style_of_its_declaration(plan):
    request = request_of(
        plan,
        "put",
        path=PATH,
        query={"where": {"a": 1}, "tags": ["x", "y"], "odd": "o", "other": True, "none": None},
        headers={"x-many": ["a", "b"], "x-other": 5},
        cookies={"seen": "a b"},
        body={"a": "\u00e9"},
    )
    path, _, query = request.target.partition("?")
    assert (request.method, path) == ("POST", "/v1/items/.1,b%2Ec/a%2Fb")
    assert query == "where%5Ba%5D=1&tags=x%7Cy&odd=o&other=true"
    assert dict(request.headers) == {
        "x-many": "a,b",
        "x-other": "5",
        "cookie": "seen=a%20b",
        "content-type": "application/json",
    }
    assert json.loads(request.body) == {"a": "\u00e9"}


def test_a_wide_variable_keeps_its_slashes(plan):
    assert (
        request_of(plan, "put", path=PATH, slash_variables=("file",)).target
        == "/v1/items/.1,b%2Ec/a/b"
    )


def test_the_whole_query_is_content(plan):
    assert request_of(plan, "search", query={"a": [1]}).target == (
        "/v1/search?%7B%22a%22%3A%20%5B1%5D%7D"
    )
    assert request_of(plan, "search").target == "/v1/search"


def test_bytes_are_sent_as_they_are(plan):
    request = request_of(plan, "put", path=PATH, body=b"<a/>")
    assert (request.body, request.headers) == (b"<a/>", (("content-type", "application/xml"),))
    request = request_of(plan, "put", path=PATH, body=b"[]", media_type="text/json")
    assert request.headers == (("content-type", "text/json"),)


def test_a_form_is_written_of_its_fields(plan):
    request = request_of(plan, "form", body={"a": [1, 2], "b": {"c": "d"}})
    assert request.body == b"a=1&a=2&b%5Bc%5D=d"
    assert request.headers == (("content-type", "application/x-www-form-urlencoded"),)


@each(
    ("media_type", "body", "expected"),
    [
        ("application/jsonl", [{"a": 1}, 2], b'{"a":1}\n2\n'),
        ("application/json-seq", [1], b"\x1e1\n"),
        ("text/csv", "a,b", b"a,b"),
    ],
)
def test_a_sequence_and_a_text_are_written(plan, media_type, body, expected):
    request = request_of(plan, "put", path=PATH, body=body, media_type=media_type)
    assert (request.body, request.headers) == (expected, (("content-type", media_type),))


def test_a_multipart_form_has_its_boundary(plan):
    request = request_of(
        plan, "put", path=PATH, body={"a": File(b"1")}, media_type="multipart/form-data"
    )
    (content_type,) = [value for name, value in request.headers if name == "content-type"]
    assert request.body.startswith(b"--" + content_type.partition("boundary=")[2].encode())


def test_the_parameters_that_select_an_operation_are_written(plan):
    request = request_of(plan, "form", body=b"a=b", query={"x": 1})
    assert request.target == "/v1/form?kind=a&x=1"
    assert request.headers == (("content-type", "application/x-www-form-urlencoded"),)


@each(
    ("name", "values", "message"),
    [
        ("put", {"path": {"id": 1}}, "path parameter 'file' of shop.put needs a value"),
        ("put", {"path": {**PATH, "id": []}}, "path parameter 'id' of shop.put needs a value"),
        ("put", {"path": {**PATH, "id": None}}, "path parameter 'id' of shop.put needs a value"),
        ("put", {"path": {**PATH, "x": 1}}, "has no path parameter 'x'; it has id, file"),
        ("search", {"path": {"x": 1}}, "has no path parameter 'x'; it has none"),
        ("form", {"body": [1]}, "is application/x-www-form-urlencoded, not JSON"),
        ("put", {"path": {"id": ["."], "file": ".."}}, "a path parameter of shop.put is '.' or"),
        ("put", {"path": PATH, "body": {1: object()}}, "the body of shop.put is not JSON"),
    ],
)
def test_values_that_make_no_request_are_refused(plan, name, values, message):
    with pytest.raises(ValueError, match="shop") as excinfo:
        request_of(plan, name, **values)
    assert message in str(excinfo.value)


def test_members_of_an_object_are_parameters_of_their_own(plan):
    query = {"more": {"a": "1", "b&c": "2"}, "deep": {"tenant": "x"}, "tenant": "t"}
    target = request_of(plan, "list", query=query).target
    assert target == "/v1/list?a=1&b%26c=2&deep%5Btenant%5D=x&tenant=t"
    body = request_of(plan, "form", body={"more": {"a": "1"}, "tenant": "t"}).body
    assert body == b"a=1&tenant=t"


@each("name", ["tenant", "tenant[]", "tenant[a]", "expand[]", "expand", "expand[0]", "deep"])
def test_no_member_of_an_object_is_another_parameter(plan, name):
    with pytest.raises(ValueError, match="would be the parameter of that name"):
        request_of(plan, "list", query={"more": {"a": "1", name: "x"}})


@each("fields", [{"more": {"tenant": "x"}}, {"more": {"a": "x"}, "a": "1"}])
def test_no_member_of_an_object_is_another_field_of_a_form(plan, fields):
    with pytest.raises(ValueError, match="would be the parameter of that name"):
        request_of(plan, "form", body=fields)
