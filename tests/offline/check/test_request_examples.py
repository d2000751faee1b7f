"""The examples of a document against its own rules."""

from __future__ import annotations

import json

import pytest

from engine.offline.check import request_examples
from engine.offline.check.audit import audit
from engine.plan.assembly.make_plan import make_plan
from tests.support import yaml_text
from tests.support.each import each

NAMED = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}


def findings(folder, operation, *, version="3.1.0", validate="strict", components=None, key="/x"):
    """The warnings about examples: the words, and the text at their place."""
    folder.mkdir(parents=True, exist_ok=True)
    document = {
        "openapi": version,
        "info": {"title": "T", "version": "1"},
        "paths": {key: {"post": {"operationId": "op", "responses": {}, **operation}}},
        "components": components or {},
    }
    (folder / "shop.yaml").write_text(yaml_text.dump(document))
    (folder / "gateway.yaml").write_text(
        "version: 1\nspecs: {shop: {document: shop.yaml}}\n"
        "upstreams: {main: {url: https://main.test}}\n"
        f"routes: [{{operations: shop.*, to: [{{upstream: main}}], validate: {validate}}}]\n"
    )
    planned = make_plan(folder / "gateway.yaml", {})
    assert planned.plan is not None, planned.problems
    audit(planned, {})
    problems = [p for p in planned.problems if p.code == "MW242"]
    lines = (folder / "shop.yaml").read_text().splitlines()
    return [(p.message, lines[p.line - 1][p.column - 1 :]) for p in problems]


def body(schema, media_type="application/json", **media):
    return {"requestBody": {"content": {media_type: {"schema": schema, **media}}}}


def parameter(schema, place="query", **more):
    declared = {"name": "p", "in": place, "required": True, "schema": schema, **more}
    return {"parameters": [declared]}


MISSING = "this example of shop.op would be refused: Missing required parameter: 'name'."
TITLE = "this example of shop.op would be refused: Invalid type for 'name': expected a string"


@each(
    ("operation", "expected"),
    [
        (body(NAMED, example={"name": 1}), [(f"{TITLE}, got 1.", "name: 1")]),
        (body(NAMED, examples={"a": {"value": {"x": 1}}}), [(MISSING, "x: 1")]),
        (body(NAMED, "multipart/form-data", example={"x": 1}), [(MISSING, "x: 1")]),
        (body(NAMED, "application/*", example={"x": 1}), [(MISSING, "x: 1")]),
        (body(NAMED, example={"name": "x"}), []),
        (body(NAMED, example='{"name": "x"}'), []),
        (body(NAMED, example='{"x": 1}'), [(MISSING, "'{\"x\": 1}'")]),
        (body(NAMED, examples={"a": {"externalValue": "http://x.test"}}), []),
        (body(NAMED, example=None), []),
        (body(NAMED, "application/xml", example="<x/>"), []),
        (body({}, example={"x": 1}), []),
        (
            parameter({"type": "integer"}, example="many"),
            [("this example of shop.op would be refused: Invalid type for 'p': expected an "
              "integer, got the string 'many'.", "many")],
        ),
        (parameter({"type": "integer"}, example="5"), []),
        (parameter({"type": "string"}, example=5), []),
        (parameter({"type": "string"}, "header", example=True), []),
        (parameter({"type": "array", "items": {"type": "integer"}}, example=[1, 2]), []),
        (parameter({"type": "integer", "example": "5", "default": "6"}), []),
        (parameter({"type": "integer", "example": 5, "default": None}), []),
    ],
)  # fmt: skip
def test_an_example_of_a_request_is_judged_as_the_request(tmp_path, operation, expected):
    folder = tmp_path / str(abs(hash(json.dumps(operation))))
    assert findings(folder, operation) == expected


def member(schema):
    return body({"type": "object", "properties": {"a": schema}})


SCHEMA = "this {} does not match its schema: "


@each(
    ("operation", "version", "expected"),
    [
        (
            member({"type": "integer", "example": "x"}),
            "3.1.0",
            [(SCHEMA.format("example") + "Invalid type for 'example': expected an integer, got the "
              "string 'x'.", "x")],
        ),
        (
            member({"type": "string", "enum": ["a"], "default": "b"}),
            "3.0.3",
            [(SCHEMA.format("default") + "Invalid value for 'default': expected one of a, got the "
              "string 'b'.", "b")],
        ),
        (
            member({"type": "string", "maxLength": 1, "examples": ["a", "bc"]}),
            "3.1.0",
            [(SCHEMA.format("example") + "Invalid value for 'example': expected at most 1 "
              "character, got the string 'bc'.", "bc")],
        ),
        (member({"type": "string", "nullable": True, "example": "ab"}), "3.0.3", []),
        (member({"type": "array", "items": {"type": "boolean", "example": True}}), "3.0.3", []),
        (member({"type": "string", "readOnly": True, "example": 1}), "3.0.3", []),
        (member({"type": "string", "default": None}), "3.0.3", []),
    ],
)  # fmt: skip
def test_examples_and_defaults_of_schemas_are_judged(tmp_path, operation, version, expected):
    folder = tmp_path / str(abs(hash(json.dumps(operation))))
    assert findings(folder, operation, version=version) == expected


def test_a_member_that_is_read_only_is_no_fault(tmp_path):
    schema = {"type": "object", "properties": {"id": {"type": "string", "readOnly": True}}}
    assert findings(tmp_path, body(schema, example={"id": "x"}), version="3.0.3") == []


def test_a_named_example_is_reported_once_at_its_own_place(tmp_path):
    media = {
        "schema": NAMED,
        "examples": {name: {"$ref": "#/components/examples/E"} for name in "ab"},
    }
    operation = {"requestBody": {"content": {"application/json": media}}}
    components = {"examples": {"E": {"value": {"other": "here"}}}}
    assert findings(tmp_path, operation, components=components) == [(MISSING, "other: here")]


def test_schemas_that_refer_to_themselves_are_visited_once(tmp_path):
    tree = {
        "type": "object",
        "properties": {"below": {"$ref": "#/components/schemas/Tree"}, "n": {"type": "integer"}},
        "example": {"below": {"n": "x"}},
    }
    operation = body({"$ref": "#/components/schemas/Tree"})
    result = findings(tmp_path, operation, components={"schemas": {"Tree": tree}})
    assert [words.partition(": ")[2] for words, _ in result] == [
        "Invalid type for 'example.below.n': expected an integer, got the string 'x'."
    ]


@pytest.mark.parametrize(("validate", "count"), [("strict", 1), ("report", 0), ("off", 0)])
def test_only_routes_that_refuse_requests_are_told(tmp_path, validate, count):
    operation = body(NAMED, example={"x": 1})
    assert len(findings(tmp_path, operation, validate=validate)) == count


def test_a_path_key_that_is_repaired_is_found(tmp_path):
    operation = body(NAMED, example={"x": 1})
    assert findings(tmp_path, operation, key="/x?a=b#c") == [(MISSING, "x: 1")]


def test_each_of_many_examples_is_named(tmp_path):
    examples = {f"e{n}": {"value": {"x": n}} for n in range(9)}
    result = findings(tmp_path, body(NAMED, examples=examples))
    assert result == [(MISSING, f"x: {n}") for n in range(9)]


def test_no_more_than_a_number_of_examples_is_judged(tmp_path, monkeypatch):
    monkeypatch.setattr(request_examples, "MAX_EXAMPLES", 2)
    examples = {f"e{n}": {"value": {"x": n}} for n in range(9)}
    assert len(findings(tmp_path, body(NAMED, examples=examples))) == 2
