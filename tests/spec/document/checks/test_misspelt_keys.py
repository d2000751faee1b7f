"""Keys of a document that are nearly one of the standard's: found at their place, and no others."""

import os
from pathlib import Path

import pytest

from engine.plan.assembly.make_plan import make_plan
from engine.source.problem import Findings, Level
from engine.spec.document.checks import misspelt_keys
from engine.spec.load import load
from tests.support import yaml_text
from tests.support.each import each
from tests.support.paths import ROOT

SHARED = Path(os.environ.get("MODELWAY_SHARED", ROOT.parent / "shared"))
DOCUMENT = """\
openapi: 3.1.0
info: {title: Shop, version: "1"}
servers: [{url: /v1}]
security: [{key: []}]
paths:
  /items/{id}:
    servers: [{url: /v1}]
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get:
      operationId: get
      responses: {"200": {description: ok}}
    post:
      operationId: make
      security: [{key: []}]
      parameters:
        - {name: page, in: query, style: form, explode: true, schema: {type: integer}}
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [name]
              properties:
                name: {type: string, enum: [a, b], minLength: 1}
                tags: {type: array, items: {type: string}, minItems: 1}
                any: {anyOf: [{type: string}, {oneOf: [{allOf: [{type: number}]}]}]}
                one: {$ref: "#/components/schemas/One"}
              additionalProperties: false
      responses:
        "200": {description: ok, content: {application/json: {schema: {type: object}}}}
components:
  schemas: {One: {type: object, properties: {a: {const: 1}}}}
  securitySchemes: {key: {type: apiKey, name: key, in: header}}
"""
SLIPS = [
    ("security: [{key: []}]\npaths", "secuirty: [{key: []}]\npaths", "security"),
    ("paths:", "path:", "paths"),
    ("\ncomponents:", "\ncomponets:", "components"),
    ("    servers:", "    sever:", "servers"),
    ("    parameters: [", "    paramaters: [", "parameters"),
    ("    get:", "    gte:", "get"),
    ("    post:", "    pst:", "post"),
    ("    post:", "    POST:", "post"),
    ("operationId: make", "operationID: make", "operationId"),
    ("operationId: make", "operation_id: make", "operationId"),
    ("      security:", "      securty:", "security"),
    ("      parameters:\n", "      paramters:\n", "parameters"),
    ("      parameters:\n", "      parameter:\n", "parameters"),
    ("style: form", "stlye: form", "style"),
    ("explode: true", "expload: true", "explode"),
    ("in: query, style: form, explode: true, schema:", "in: query, shema:", "schema"),
    ("requestBody:", "requestbody:", "requestBody"),
    ("requestBody:", "request-body:", "requestBody"),
    ("requestBody:", "requstBody:", "requestBody"),
    ("        required: true\n", "        requried: true\n", "required"),
    ("        content:\n", "        contents:\n", "content"),
    ("            schema:\n", "            scheme:\n", "schema"),
    ("              type: object\n", "              tpye: object\n", "type"),
    ("required: [name]", "requried: [name]", "required"),
    ("required: [name]", "require: [name]", "required"),
    ("              properties:", "              propertis:", "properties"),
    ("              properties:", "              Properties:", "properties"),
    ("enum: [a, b]", "enmu: [a, b]", "enum"),
    ("items: {type: string}", "itmes: {type: string}", "items"),
    ("anyOf: [", "anyof: [", "anyOf"),
    ("oneOf: [", "oneof: [", "oneOf"),
    ("allOf: [", "all_of: [", "allOf"),
    ("{$ref: ", "{ref: ", "$ref"),
    ("additionalProperties:", "additionalproperties:", "additionalProperties"),
    ("additionalProperties:", "additionnalProperties:", "additionalProperties"),
    ('      responses:\n        "200"', '      respones:\n        "200"', "responses"),
    ("ok, content:", "ok, contnet:", "content"),
    ("  schemas:", "  shemas:", "schemas"),
    ("  securitySchemes:", "  securitySchemas:", "securitySchemes"),
    ("type: apiKey", "typ: apiKey", "type"),
    ("const: 1", "cosnt: 1", "const"),
]
BOUNDS = [
    ("minLength: 1", "minlength: 1", "minLength"),
    ("minLength: 1", "min_length: 1", "minLength"),
    ("minItems: 1", "minItmes: 1", "minItems"),
    ("minItems: 1", "min_items: 1", "minItems"),
]


def problems(folder, text):
    file = folder / "shop.yaml"
    file.write_text(text)
    library = load(file, "shop.yaml", Findings())
    collected = Findings()
    misspelt_keys.check(library, collected)
    return collected.problems


def test_the_document_of_these_tests_is_right(tmp_path):
    assert problems(tmp_path, DOCUMENT) == []


@each(("right", "wrong", "correct_key"), SLIPS)
def test_a_misspelt_key_is_a_warning_at_its_place_that_names_the_right_one(
    tmp_path, right, wrong, correct_key
):
    assert DOCUMENT.count(right) == 1
    text = DOCUMENT.replace(right, wrong)
    (problem,) = problems(tmp_path, text)
    assert (problem.level, problem.code) == (
        Level.ERROR if correct_key == "paths" else Level.WARNING,
        "MW234",
    )
    line = text.splitlines()[problem.line - 1]
    key = line[problem.column - 1 :].partition(":")[0]
    assert key in wrong
    assert problem.message == f"unknown key '{key}': it has no effect"
    assert problem.hint.startswith(f"did you mean '{correct_key}'?")


@each(("right", "wrong", "correct_key"), BOUNDS)
def test_a_misspelt_bound_is_a_warning(tmp_path, right, wrong, correct_key):
    (problem,) = problems(tmp_path, DOCUMENT.replace(right, wrong))
    assert problem.level is Level.WARNING
    assert problem.hint.startswith(f"did you mean '{correct_key}'?")


HARMLESS = [
    ("type: string, enum", "descripton: A name, type: string, enum"),
    ("type: string, enum", "examples: [a], example: a, type: string, enum"),
    ("type: string, enum", "x-requird: true, optional: true, order: 3, type: string, enum"),
    ("type: string, enum", "enumNames: [A, B], enum_descriptions: [A], type: string, enum"),
    ("type: string, enum", "types: [string], type: string, enum"),
    ("name: {type", "requried: {type: string}\n                name: {type"),
    ("name: {type", "propertis: {type: string}\n                name: {type"),
    ("    get:", "    x-pst: {}\n    query: {}\n    get:"),
    ("operationId: make", "operationId: make\n      tag: [a]\n      sumary: x"),
    ('"200": {description: ok}', '"200": {description: ok}, x-respones: {}'),
    ("components:", "definitions: {}\nhost: a\nx-path: {}\ncomponents:"),
    ("  schemas:", "  headers: {}\n  example: {}\n  schemas:"),
]


@each(("before", "after"), HARMLESS)
def test_keys_of_others_and_names_are_let_pass(tmp_path, before, after):
    text = DOCUMENT.replace(before, after)
    assert yaml_text.load(text) != yaml_text.load(DOCUMENT)
    assert problems(tmp_path, text) == []


def test_a_misspelt_key_in_a_file_that_is_referred_to_is_placed_there(tmp_path):
    (tmp_path / "one.yaml").write_text("One:\n  type: object\n  propertis: {a: {}}\n")
    text = DOCUMENT.replace('"#/components/schemas/One"', '"one.yaml#/One"')
    (problem,) = problems(tmp_path, text)
    assert (Path(problem.file).name, problem.line, problem.column) == ("one.yaml", 3, 3)


def test_a_recursive_schema_terminates(tmp_path):
    text = DOCUMENT.replace("{a: {const: 1}}", '{a: {$ref: "#/components/schemas/One"}}')
    assert problems(tmp_path, text) == []


@each("file", sorted((ROOT / "openapi").glob("*.yaml")), ids=lambda f: f.stem)
def test_the_shipped_documents_have_none(file):
    library, findings = load(file, file.name, Findings()), Findings()
    misspelt_keys.check(library, findings)
    assert findings.problems == []


def test_the_vendors_own_document_has_no_error():
    file = SHARED / "documents" / "openai" / "openapi.yaml"
    if not file.exists():
        pytest.skip("the vendor's document is not here: set MODELWAY_SHARED")
    library, findings = load(file, file.name, Findings()), Findings()
    misspelt_keys.check(library, findings)
    assert findings.errors == []


def test_a_misspelt_key_without_which_nothing_is_served_fails_the_plan(tmp_path):
    (tmp_path / "shop.yaml").write_text(DOCUMENT.replace("paths:", "pahts:"))
    config = (
        "version: 1\nspecs: {shop: {document: shop.yaml}}\n"
        "upstreams: {main: {url: http://127.0.0.1:9}}\n"
        "routes: [{operations: shop.*, to: [{upstream: main}]}]\n"
    )
    planned = make_plan(tmp_path / "gateway.yaml", {}, config)
    assert planned.plan is None
    assert [problem.code for problem in planned.findings.errors] == ["MW234"]
