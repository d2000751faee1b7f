"""One document out of several: valid, its references right, its names apart."""

import json

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from engine.console.merged_document import merged
from engine.plan.make import make_plan
from tests.console.conftest import planned

CONFIG = """
version: 1
specs:
  one: {document: one.yaml}
  two: {document: two.yaml}
upstreams:
  u: {url: "http://127.0.0.1:9"}
routes:
  - {operations: [one.*, two.*], to: [{upstream: u}]}
"""
ONE = """
openapi: 3.1.0
info: {title: One, version: "1"}
servers: [{url: /one}]
tags: [{name: Things, description: All of them}]
paths:
  /things/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get:
      operationId: read
      tags: [Things]
      responses:
        "200":
          description: fine
          content:
            application/json:
              schema: {$ref: "#/components/schemas/Thing"}
              examples: {a: {value: {$ref: "not a reference"}}}
components:
  schemas:
    Thing:
      type: object
      properties:
        $ref: {type: string}
        next: {$ref: "#/components/schemas/Thing"}
        part: {$ref: "parts/more.yaml#/Part"}
      discriminator: {propertyName: kind, mapping: {a: Thing, b: "#/components/schemas/Other"}}
    Other: {type: object}
    Unused: {type: object}
"""
MORE = """
Part:
  type: object
  properties:
    whole: {$ref: "../one.yaml#/components/schemas/Thing"}
    again: {$ref: "#/Part"}
"""
TWO = """
openapi: 3.0.3
info: {title: Two, version: "1"}
servers: [{url: /two}]
paths:
  /things:
    post:
      operationId: read
      requestBody:
        content:
          application/json:
            schema: {$ref: "#/components/schemas/Thing"}
      responses: {"200": {$ref: "#/components/responses/Fine"}}
components:
  responses: {Fine: {description: fine}}
  schemas:
    Thing:
      type: object
      properties:
        nullable: {type: integer, minimum: 3, exclusiveMinimum: true}
        size: {type: string, nullable: true, enum: [a]}
"""


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    folder = tmp_path_factory.mktemp("documents")
    (folder / "parts").mkdir()
    for name, text in {"one.yaml": ONE, "two.yaml": TWO, "parts/more.yaml": MORE}.items():
        (folder / name).write_text(text)
    made = make_plan(folder / "gateway.yaml", {}, CONFIG)
    assert made.plan is not None, made.problems
    return merged(made.plan, "http://h"), str(folder)


def references(value):
    if isinstance(value, list):
        return [ref for one in value for ref in references(one)]
    if not isinstance(value, dict):
        return []
    own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
    return own + [ref for one in value.values() for ref in references(one)]


def breaches(document):
    return [str(one)[:500] for one in OpenAPIV31SpecValidator(document).iter_errors()]


def test_the_shipped_documents_make_a_valid_one(shipped):
    document = merged(shipped, "http://h")
    assert breaches(document) == []
    served = {route.operation.id for route in shipped.routes}
    named = {o["operationId"] for item in document["paths"].values() for o in item.values()}
    assert named <= served
    assert len(named) > 20
    assert document["servers"] == [{"url": "http://h"}]


def test_what_is_not_routed_is_not_in_it(text):
    document = merged(planned(text.replace("      - openai.createResponse\n", "")), "http://h")
    assert "/v1/responses" not in document["paths"]
    assert "ResponseRequest" not in document["components"]["schemas"]


def test_security_is_what_the_gateway_takes(shipped):
    document = merged(shipped, "http://h")
    chat = document["paths"]["/v1/chat/completions"]["post"]
    assert {"bearer": []} in chat["security"]
    schemes = document["components"]["securitySchemes"]
    assert schemes["bearer"]["scheme"] == "bearer"
    used = [
        n for p in document["paths"].values() for o in p.values() for s in o["security"] for n in s
    ]
    assert set(used) == set(schemes)


def test_names_that_clash_are_told_apart(both):
    document, _ = both
    assert breaches(document) == []
    schemas = document["components"]["schemas"]
    assert {"Thing", "two.Thing", "Part", "Other"} == set(schemas)
    body = document["paths"]["/two/things"]["post"]["requestBody"]
    said = body["content"]["application/json"]["schema"]
    assert said == {"$ref": "#/components/schemas/two.Thing"}


def test_references_lead_somewhere_and_tell_nothing_of_files(both):
    document, folder = both
    assert folder not in json.dumps(document)
    schemas = document["components"]["schemas"]
    assert schemas["Thing"]["properties"]["part"] == {"$ref": "#/components/schemas/Part"}
    assert schemas["Part"]["properties"]["whole"] == {"$ref": "#/components/schemas/Thing"}
    assert schemas["Part"]["properties"]["again"] == {"$ref": "#/components/schemas/Part"}
    assert schemas["Thing"]["properties"]["$ref"] == {"type": "string"}
    mapping = schemas["Thing"]["discriminator"]["mapping"]
    assert mapping == {"a": "#/components/schemas/Thing", "b": "#/components/schemas/Other"}


def test_examples_are_left_alone(both):
    document, _ = both
    answer = document["paths"]["/one/things/{id}"]["get"]["responses"]["200"]
    assert answer["content"]["application/json"]["examples"]["a"]["value"] == {
        "$ref": "not a reference"
    }


def test_parameters_of_a_path_go_to_its_operations(both):
    document, _ = both
    said = document["paths"]["/one/things/{id}"]["get"]
    assert [one["name"] for one in said["parameters"]] == ["id"]
    assert said["operationId"] == "one.read"
    assert said["tags"] == ["one: Things"]
    assert {"name": "one: Things", "description": "All of them"} in document["tags"]


def test_schemas_of_3_0_are_said_as_3_1_says_them(both):
    document, _ = both
    said = document["components"]["schemas"]["two.Thing"]["properties"]
    assert said["nullable"] == {"type": "integer", "exclusiveMinimum": 3}
    assert said["size"] == {"type": ["string", "null"], "enum": ["a", None]}
