"""The edits of transforms as `explain` and `diff` show them."""

import json

import pytest
from click.testing import CliRunner

from engine import cli
from engine.config.transforms import TransformConfig
from engine.offline.transform_edits import edits_of

DOCUMENT = """
openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /chat:
    post:
      operationId: chat
      security: []
      requestBody:
        content:
          application/json:
            schema: {properties: {model: {type: string}, n: {type: integer}}}
      responses: {"200": {description: ok}}
  /other:
    post:
      operationId: other
      requestBody: {content: {application/json: {schema: {properties: {input: {type: string}}}}}}
      responses: {"200": {description: ok}}
"""
CONFIG = """
version: 1
specs: {shop: {document: shop.yaml, dialect: openai}}
upstreams:
  one: {url: "https://one.test/v1", transform: {request: {path: "/x{target.path}"}}}
  two: {url: "https://two.test/v1", transform: {request: {path: "/y{target.path}"}}}
models:
  small:
    to: [{upstream: one, transform: {request: {query: {set: {a: "1"}}}}}]
    transform: {request: {header: {set: {x-a: "1"}}}}
  large: {to: [{upstream: two}], transform: {request: {header: {set: {x-b: "1"}}}}}
policies: [{transform: {request: {body: {default: {n: 1, input: x}}}}}]
routes:
- {operation: shop.chat, model: $request.body#/model, auth: none}
- {operation: shop.other, to: [{upstream: two}], auth: none}
"""


def explained(*words):
    ran = CliRunner().invoke(cli.main, ["explain", *words, "--format", "json"])
    report = json.loads(ran.stdout)
    return [(edit["edit"], int(edit["place"].split(":")[1])) for edit in report["transforms"]]


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gateway.yaml").write_text(CONFIG)
    (tmp_path / "shop.yaml").write_text(DOCUMENT)


def test_a_request_shows_the_edits_that_were_made_in_their_order():
    assert explained("POST", "/chat", "-d", '{"model": "small"}') == [
        ("request.body.default n", 12),
        ("request.header.set x-a", 10),
        ("request.path", 5),
        ("request.query.set a", 9),
    ]


def test_a_route_to_an_upstream_has_no_model():
    assert [edit for edit, _ in explained("POST", "/other", "-d", '{"input": "a"}')] == [
        "request.body.default input",
        "request.path",
    ]


def test_edits_have_no_values():
    options = {
        "request": {"path": {"/a": "/b"}, "body": {"remove": ["a"], "set": {"b": "secret"}}},
        "response": {"header": {"rename": {"c": "d"}}},
    }
    assert list(edits_of(TransformConfig(options, ("policies", 0)))) == [
        (("policies", 0, "request", "path"), "request.path"),
        (("policies", 0, "request", "body", "remove", 0), "request.body.remove a"),
        (("policies", 0, "request", "body", "set", "b"), "request.body.set b"),
        (("policies", 0, "response", "header", "rename", "c"), "response.header.rename c"),
    ]


def test_a_default_shows_what_leaves_it_out():
    body = {"default": {"a": 1, "b": 2}, "unless": {"/a": ["c", "d"]}}
    assert [edit for _, edit in edits_of(TransformConfig({"request": {"body": body}}, ()))] == [
        "request.body.default a unless c or d",
        "request.body.default b",
    ]


def test_a_default_with_a_condition_is_an_edit_where_the_operation_has_its_place(tmp_path):
    default = "default: {n: 1, input: x}"
    text = CONFIG.replace(default, f"{default}, unless: {{n: [model]}}")
    (tmp_path / "gateway.yaml").write_text(text)
    edits = [edit for edit, _ in explained("POST", "/chat", "-d", '{"model": "small"}')]
    assert edits[0] == "request.body.default n unless model"
    assert "request.body.default input" not in edits
