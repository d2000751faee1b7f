"""The place of the model's name, checked against the operation."""

from pathlib import Path

import pytest

from engine.plan.assembly.make_plan import make_plan
from engine.source.problem import Level

DOCUMENT = """
openapi: 3.1.0
info: {title: Chat, version: "1"}
servers: [{url: "https://example.com/v1"}]
paths:
  /chat/{model}:
    post:
      operationId: chat
      requestBody:
        content:
          application/json:
            schema:
              type: object
              properties:
                model: {type: string}
                options: {type: object, properties: {model: {type: string}}}
      responses: {}
  /form: {post: {operationId: form, requestBody: {content: {multipart/form-data: {}}}}}
  /any: {post: {operationId: any, requestBody: {content: {application/json: {}}}}}
  /list: {get: {operationId: list}}
"""
CONFIG = """version: 1
specs: {{api: {{document: api.yaml}}}}
upstreams: {{main: {{url: "http://1.1.1.1/v1"}}}}
models: {{m: {{to: [{{upstream: main}}]}}}}
routes: [{{operation: api.{operation}, model: {model}}}]
"""


@pytest.fixture(autouse=True)
def document(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "api.yaml").write_text(DOCUMENT)


def problems(operation, model):
    """Level, message and hint of each problem of the place."""
    planned = make_plan(Path("gateway.yaml"), {}, CONFIG.format(operation=operation, model=model))
    return [(p.level, p.message, p.hint) for p in planned.problems if p.code == "MW305"]


@pytest.mark.parametrize(
    ("operation", "model"),
    [
        ("chat", "$request.body#/model"),
        ("chat", "$request.body#/options/model"),
        ("chat", "$request.path.model"),
        ("form", "$request.body#/model"),
        ("any", "$request.body#/deep/model"),
        ("list", "$request.query.model"),
    ],
)
def test_a_place_that_the_operation_has(operation, model):
    assert problems(operation, model) == []


@pytest.mark.parametrize(
    ("operation", "model", "words"),
    [
        ("chat", "$request.path.name", "no path variable 'name'"),
        ("list", "$request.body#/model", "has no request body"),
        ("form", "$request.body#/a/model", "accepts a form"),
    ],
)
def test_a_place_that_the_operation_cannot_have_is_an_error(operation, model, words):
    ((level, message, _),) = problems(operation, model)
    assert level is Level.ERROR
    assert words in message


def test_a_misspelt_member_is_an_error_that_suggests_the_right_one():
    ((level, message, hint),) = problems("chat", "$request.body#/modle")
    assert (level, "model" in hint) == (Level.ERROR, True)
    assert "names 'modle'" in message


def test_a_member_that_no_schema_names_is_a_warning():
    ((level, message, _),) = problems("chat", "$request.body#/options/deployment")
    assert level is Level.WARNING
    assert "names 'options.deployment'" in message


def test_a_default_model_needs_a_place_at_the_top_of_the_body():
    model = "{from: $request.body#/options/model, default: m}"
    assert any("a default model" in message for _, message, _ in problems("chat", model))


def test_also_goes_with_a_model_outside_the_body():
    model = "{from: $request.body#/model, also: [$request.body#/options/model]}"
    assert any("'also'" in message for _, message, _ in problems("chat", model))
    model = "{from: $request.path.model, also: [$request.body#/model]}"
    assert problems("chat", model) == []
