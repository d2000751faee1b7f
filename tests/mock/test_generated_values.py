"""Values invented from schemas are right by those schemas."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.mock.generated_values import invent
from engine.spec.schemas.compiled_schemas import Schemas
from tests.support.documents import document, library
from tests.support.each import each

TREE = {
    "type": "object",
    "required": ["name", "children"],
    "properties": {
        "name": {"type": "string"},
        "children": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}},
    },
}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "minLength": 9},
        {"type": "string", "format": "uuid"},
        {"type": ["null", "integer"], "minimum": 5},
        {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        {"type": "integer", "maximum": -3},
        {"type": "boolean"},
        {"const": "c"},
        {"enum": ["a", "b"]},
        {"type": "array", "minItems": 2, "items": {"type": "integer"}},
        {"allOf": [{"type": "object", "required": ["a"], "properties": {"a": {"const": 1}}}]},
        {"anyOf": [{"type": "null"}, {"type": "string"}]},
        {"type": "object", "required": ["x"], "properties": {"x": {"type": "integer"}}},
        {"$ref": "#/components/schemas/Tree"},
    ],
)
def test_it_matches_its_schema(schema: Any) -> None:
    documents = library(document(components={"schemas": {"Root": schema, "Tree": TREE}}))
    node = documents.document.get("components").get("schemas").step("Root")
    assert Schemas(documents).validator(node).is_valid(invent(node))


def test_examples_come_first() -> None:
    schema = {"type": "string", "examples": ["shown"]}
    documents = library(document(components={"schemas": {"Root": schema}}))
    assert invent(documents.document.get("components").get("schemas").get("Root")) == "shown"


NODE = {"$ref": "#/components/schemas/Node"}
ENDLESS: dict[str, Any] = {
    "items": {"type": "array", "minItems": 1, "items": NODE},
    "members": {"type": "object", "required": ["a", "b"], "properties": {"a": NODE, "b": NODE}},
    "wide": {
        "type": "object",
        "required": list("abcdefghij"),
        "properties": dict.fromkeys("abcdefghij", NODE),
    },
    "many items": {"type": "array", "minItems": 10**12, "items": {"type": "string"}},
    "long text": {"type": "string", "minLength": 10**12},
    "half an item": {"type": "array", "minItems": 1.5},
    "a word": {"type": "string", "minLength": "long", "format": ["date"]},
    "no number": {"type": "number", "minimum": "low", "maximum": None},
    "lists": {"type": "object", "required": [["a"]], "properties": {}},
}


@each("name", list(ENDLESS))
def test_a_schema_without_an_end_has_a_value(name: str) -> None:
    documents = library(document(components={"schemas": {"Node": ENDLESS[name]}}))
    value = invent(documents.document.get("components").get("schemas").get("Node"))
    assert len(json.dumps(value)) < 1_000_000


def test_arrays_of_arrays_have_a_value_of_bounded_size() -> None:
    """A hundred items at each of six levels would be a million million."""
    schema: dict[str, Any] = {"type": "string", "minLength": 1_000}
    for _ in range(6):
        schema = {"type": "array", "minItems": 100, "items": schema}
    documents = library(document(components={"schemas": {"Root": schema}}))
    value = invent(documents.document.get("components").get("schemas").get("Root"))
    items = 1
    while isinstance(value, list):
        items, value = items * len(value), value[0]
    assert items <= 1_000
    assert items * len(value) < 1_000_000


def test_many_texts_have_a_value_of_bounded_size() -> None:
    text = {"type": "string", "minLength": 10_000}
    names = [f"text{number}" for number in range(900)]
    schema = {"type": "object", "required": names, "properties": dict.fromkeys(names, text)}
    documents = library(document(components={"schemas": {"Root": schema}}))
    value = invent(documents.document.get("components").get("schemas").get("Root"))
    assert len(json.dumps(value)) < 1_000_000


def test_branches_that_double_with_every_level_have_a_value() -> None:
    schemas: dict[str, Any] = {
        f"S{n}": {"allOf": [{"$ref": f"#/components/schemas/S{n + 1}"}] * 2} for n in range(60)
    }
    documents = library(document(components={"schemas": {**schemas, "S60": {"type": "object"}}}))
    invent(documents.document.get("components").get("schemas").get("S0"))


def test_a_chain_of_hundreds_of_schemas_has_a_value() -> None:
    schemas: dict[str, Any] = {
        f"S{n}": {"allOf": [{"$ref": f"#/components/schemas/S{n + 1}"}]} for n in range(900)
    }
    documents = library(document(components={"schemas": {**schemas, "S900": {"type": "object"}}}))
    invent(documents.document.get("components").get("schemas").get("S0"))
