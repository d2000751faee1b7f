"""Parts of several documents in one: references are rewritten, names made unique."""

import json

import orjson
import pytest

from engine.console.reference import merged
from engine.console.reference_components import fill_example
from engine.plan.assembly.make_plan import make_plan
from tests.console.conftest import openapi_errors

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
FIRST = """
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
PARTS = """
Part:
  type: object
  properties:
    whole: {$ref: "../one.yaml#/components/schemas/Thing"}
    again: {$ref: "#/Part"}
"""
SECOND = """
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
    for name, text in {"one.yaml": FIRST, "two.yaml": SECOND, "parts/more.yaml": PARTS}.items():
        (folder / name).write_text(text)
    result = make_plan(folder / "gateway.yaml", {}, CONFIG)
    assert result.plan is not None, result.problems
    return merged(result.plan, "http://h"), str(folder)


def test_colliding_names_get_the_prefix_of_their_document(both):
    document, _ = both
    assert openapi_errors(document) == []
    schemas = document["components"]["schemas"]
    assert {"Thing", "two.Thing", "Part", "Other"} == set(schemas)
    body = document["paths"]["/two/things"]["post"]["requestBody"]
    schema = body["content"]["application/json"]["schema"]
    assert schema == {"$ref": "#/components/schemas/two.Thing"}


def test_references_resolve_and_contain_no_file_names(both):
    document, folder = both
    assert folder not in json.dumps(document)
    schemas = document["components"]["schemas"]
    assert schemas["Thing"]["properties"]["part"] == {"$ref": "#/components/schemas/Part"}
    assert schemas["Part"]["properties"]["whole"] == {"$ref": "#/components/schemas/Thing"}
    assert schemas["Part"]["properties"]["again"] == {"$ref": "#/components/schemas/Part"}
    assert schemas["Thing"]["properties"]["$ref"] == {"type": "string"}
    mapping = schemas["Thing"]["discriminator"]["mapping"]
    assert mapping == {"a": "#/components/schemas/Thing", "b": "#/components/schemas/Other"}


def test_references_in_examples_stay(both):
    document, _ = both
    answer = document["paths"]["/one/things/{id}"]["get"]["responses"]["200"]
    assert answer["content"]["application/json"]["examples"]["a"]["value"] == {
        "$ref": "not a reference"
    }


def test_schemas_of_3_0_are_converted_to_3_1(both):
    document, _ = both
    properties = document["components"]["schemas"]["two.Thing"]["properties"]
    assert properties["nullable"] == {"type": "integer", "exclusiveMinimum": 3}
    assert properties["size"] == {"type": ["string", "null"], "enum": ["a", None]}


EXTENSIONS = """
openapi: 3.1.0
info: {title: Samples, version: "1"}
servers: [{url: /one}]
paths:
  /things:
    post:
      operationId: add
      x-samples: [{language: ts, code: {$ref: "./absent.ts"}}]
      x-weight: 3
      requestBody:
        content:
          application/json:
            schema:
              type: object
              x-icon: {$ref: "absent.svg"}
              properties: {x-name: {$ref: "#/components/schemas/Name"}}
      responses: {"200": {description: fine}, x-more: {$ref: "absent.yaml"}}
components: {schemas: {Name: {type: string, pattern: '(?i)^a'}}}
"""


def test_references_in_extensions_are_not_followed(tmp_path):
    (tmp_path / "one.yaml").write_text(EXTENSIONS)
    text = CONFIG.replace("  two: {document: two.yaml}\n", "").replace("one.*, two.*", "one.*")
    result = make_plan(tmp_path / "gateway.yaml", {}, text)
    assert result.plan is not None, result.problems
    document = merged(result.plan, "http://h")
    assert "absent" not in json.dumps(document)
    operation = document["paths"]["/one/things"]["post"]
    assert operation["x-weight"] == 3
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    assert schema["properties"] == {"x-name": {"$ref": "#/components/schemas/Name"}}
    assert document["components"]["schemas"]["Name"] == {"type": "string", "pattern": "(?i:^a)"}


def test_examples_named_like_keywords_may_have_no_target(tmp_path):
    gone = FIRST.replace('{a: {value: {$ref: "not a reference"}}}', "{default: {$ref: gone.yaml}}")
    (tmp_path / "one.yaml").write_text(gone)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/more.yaml").write_text(PARTS)
    text = CONFIG.replace("  two: {document: two.yaml}\n", "").replace("one.*, two.*", "one.*")
    result = make_plan(tmp_path / "gateway.yaml", {}, text)
    assert result.plan is not None, result.problems
    assert [problem.code for problem in result.problems if "gone" in problem.message] == ["MW203"]
    assert "gone" not in json.dumps(merged(result.plan, "http://h"))


@pytest.mark.parametrize(
    ("example", "expected"),
    [
        ("{{now}}", 1_767_225_600),
        ("chatcmpl-{{id}}", "chatcmpl-4f1c9a70d2e84b3f"),
        ({"n": ["{{n}}", "{{n}}"], "x": None}, {"n": [0, 1], "x": None}),
        ("{{who}} {{ text }}", "{{who}} {{ text }}"),
        ("data: 1\n\n: if usage\ndata: {{n}}\n\n", "data: 1\n\ndata: 0\n\n"),
        (7, 7),
    ],
)
def test_known_placeholders_are_filled_in(example, expected):
    assert fill_example(example) == expected


def test_the_document_has_no_placeholders(client):
    assert "{{" not in client.simulate_get("/openapi.json").text


def test_examples_of_streams_are_json(client):
    document = client.simulate_get("/openapi.json").json
    events = 0
    for item in document["paths"].values():
        for operation in item.values():
            streamed = operation["responses"].get("200", {}).get("content", {})
            for example in streamed.get("text/event-stream", {}).get("examples", {}).values():
                for line in example["value"].splitlines():
                    if line.startswith("data: {"):
                        orjson.loads(line.removeprefix("data: "))
                        events += 1
    assert events > 10


def test_each_of_many_schemas_may_refer_to_the_next(tmp_path):
    last = 500
    chain = "".join(
        f'    S{number}: {{properties: {{next: {{$ref: "#/components/schemas/S{number + 1}"}}}}}}\n'
        for number in range(last)
    )
    text = FIRST.replace("components:\n  schemas:\n", f"components:\n  schemas:\n{chain}", 1)
    text = text.replace(
        "    Other: {type: object}", f"    Other: {{}}\n    S{last}: {{type: string}}"
    )
    (tmp_path / "one.yaml").write_text(
        text.replace('"parts/more.yaml#/Part"', '"#/components/schemas/S0"')
    )
    config = CONFIG.replace("  two: {document: two.yaml}\n", "").replace("one.*, two.*", "one.*")
    result = make_plan(tmp_path / "gateway.yaml", {}, config)
    assert result.plan is not None, result.problems
    schemas = merged(result.plan, "http://h")["components"]["schemas"]
    assert schemas[f"S{last}"] == {"type": "string"}
