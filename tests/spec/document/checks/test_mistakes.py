"""Mistakes that the standard allows, each with its place and a hint."""

import json

import pytest
import yaml

from engine.source.problem import Findings
from engine.spec.document.checks.mistakes import note_mistakes
from engine.spec.load import load


def found(tmp_path, paths=None, schema=None):
    """The mistakes of a document: the text at each place, its code and hint."""
    document = {
        "openapi": "3.0.3",
        "info": {"title": "Shop", "version": "1"},
        "paths": paths or {},
        "components": {"schemas": {"Item": schema or {}}},
    }
    text = yaml.safe_dump(json.loads(json.dumps(document)))
    file = tmp_path / "shop.yaml"
    file.write_text(text, "utf-8")
    findings = Findings()
    library = load(file, "shop.yaml", findings)
    assert library is not None
    before = len(findings.unsorted)
    note_mistakes(library, findings)
    lines = text.splitlines()
    return [(lines[p.line - 1][p.column - 1 :], p.code, p.hint) for p in findings.unsorted[before:]]


def body(media_type):
    return {
        "/items": {
            "post": {
                "operationId": "create",
                "requestBody": {"content": {media_type: {}}},
                "responses": {"200": {"description": "Done"}},
            }
        }
    }


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("aplication/json", "application/json"),
        ("application/josn", "application/json"),
        ("json", "application/json"),
        ("multipart/formdata", "multipart/form-data"),
        ("application/www-form-urlencoded", "application/x-www-form-urlencoded"),
        ("image/jepg", "image/jpeg"),
    ],
)
def test_a_misspelt_media_type_is_found(name, meant, tmp_path):
    [(text, code, hint)] = found(tmp_path, body(name))
    assert (text.split(":")[0], code, hint) == (name, "MW476", f"did you mean '{meant}'?")


@pytest.mark.parametrize(
    "name",
    [
        *("application/json", "application/JSON; charset=utf-8", "application/*", "*/*"),
        *("application/vnd.github+json", "application/hal+json", "application/x-protobuf"),
        *("application/jsonl", "application/x-ndjson", "image/jpg", "text/markdown", "x-own/type"),
        *("application/jose", "application/sarif+json", "application/grpc", "audio/mp3"),
    ],
)
def test_another_media_type_is_left_alone(name, tmp_path):
    assert found(tmp_path, body(name)) == []


@pytest.mark.parametrize(
    ("schema", "text", "hint"),
    [
        ({"type": "string", "enum": [1, 2]}, "1", "put its values in quotes"),
        ({"type": "integer", "enum": ["1"]}, "'1'", "write its values without quotes"),
        ({"type": "integer", "minimum": 9, "maximum": 1}, "9", "write the smaller one first"),
        ({"type": "string", "format": "datetime"}, "datetime", "did you mean 'date-time'?"),
        ({"type": "integer", "minimum": 1, "default": 0}, "0", "write 1 or more"),
        ({"type": "string", "enum": ["a"], "default": "b"}, "b", "write one of its 'enum'"),
        (
            {"required": ["nmae"], "properties": {"name": {}}},
            "nmae",
            "did you mean 'name'?",
        ),
        (
            {"type": "string", "pattern": "/^a+/i"},
            "/^a+/i",
            "write it without the / at its beginning and its end",
        ),
        ({"$ref": "#/x", "type": "string", "enum": [1]}, "1", "put its values in quotes"),
        (
            {"$ref": None},
            "$ref: null",
            'put it in quotes: "#/components/schemas/...", as # begins a comment',
        ),
    ],
)
def test_a_schema_that_means_something_else_is_found(schema, text, hint, tmp_path):
    assert found(tmp_path, schema=schema) == [(text, "MW477", hint)]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "enum": ["1", None]},
        {"type": "integer", "enum": [1.0]},
        {"type": "string", "format": "money"},
        {"type": "string", "pattern": "^/v1/"},
        {"required": ["other"], "properties": {"name": {}}},
        {"example": {"required": ["nmae"], "properties": {"name": {}}}},
        {"properties": {"enum": {"type": "string"}, "default": {"type": "number"}}},
        {"x-note": {"schema": {"type": "string", "enum": [1]}}},
    ],
)
def test_a_schema_that_means_what_it_says_is_left_alone(schema, tmp_path):
    assert found(tmp_path, schema=schema) == []


def test_a_variable_with_a_colon_is_found(tmp_path):
    item = {"get": {"operationId": "get", "responses": {"200": {"description": "It"}}}}
    [(text, code, hint)] = found(tmp_path, {"/items/:id": item})
    assert (text, code, hint) == ("/items/:id:", "MW478", "write {id}")
    assert found(tmp_path, {"/models/{name}:run": item}) == []
