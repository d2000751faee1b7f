"""Values invented from schemas are right by those schemas."""

from __future__ import annotations

from typing import Any

import pytest

from engine.mock.invent import invent
from engine.spec.schemas import Schemas
from tests.support.documents import document, library

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
