"""The fields that `drop` may name."""

import pytest

from engine.offline.check.rules.unknown_drop import request_fields
from engine.plan.assembly.make_plan import make_plan
from engine.source import files
from tests.support.rehearsing import planned


@pytest.fixture(scope="module")
def shipped():
    return request_fields(make_plan(files.CONFIG, {}).plan)


@pytest.mark.parametrize(
    "field",
    [
        "logit_bias",
        "messages.content.file",
        "previous_response_id",
        "tools.function.strict",
        "messages.content.source.data",
        "generationConfig.thinkingConfig.thinkingBudget",
    ],
)
def test_the_fields_of_each_format_are_known(shipped, field):
    assert field in shipped


@pytest.mark.parametrize("field", ["messages[0].content", "nothing", "", "voice"])
def test_nothing_else_is_a_field(shipped, field):
    assert field not in shipped


def test_a_schema_that_contains_itself_ends(tmp_path):
    document = """openapi: 3.1.0
info: {title: Chats, version: "1"}
servers: [{url: /v1}]
paths:
  /chat/completions:
    post:
      operationId: chat
      requestBody:
        content: {application/json: {schema: {$ref: "#/components/schemas/Tree"}}}
      responses: {"200": {description: ok}}
components:
  securitySchemes: {bearer: {type: http, scheme: bearer}}
  schemas:
    Tree:
      type: object
      properties: {model: {type: string}, tree: {$ref: "#/components/schemas/Tree"}}
      anyOf:
        - {properties: {tree: {$ref: "#/components/schemas/Tree"}}}
        - {properties: {leaf: {type: string}}}
"""
    config = """version: 1
specs: {shop: {document: shop.yaml, dialect: openai}}
upstreams: {main: {url: "http://main.test/v1", dialect: openai}}
models: {big: {to: [{upstream: main}]}}
routes: [{operation: shop.chat, model: $request.body#/model}]
"""
    fields = request_fields(planned(tmp_path, config, document).plan)
    assert {"tree", "tree.tree", "tree.tree.leaf"} <= fields
    assert not any(field.count(".") > 6 for field in fields)
