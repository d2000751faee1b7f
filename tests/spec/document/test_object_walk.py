"""The objects of a document are walked by their kinds, through references, each once."""

from __future__ import annotations

from typing import Any

from engine.spec.document.object_walk import objects
from tests.support.documents import document, get, library

SCHEMAS: dict[str, Any] = {
    "A": {"properties": {"x-a": {"$ref": "#/x-more/B"}, "a": {"$ref": "#/components/schemas/A"}}}
}


def test_an_object_is_walked_as_what_refers_to_it() -> None:
    parameter = {"name": "q", "in": "query", "schema": {"$ref": "#/components/schemas/A"}}
    value = document(
        paths={"/x": {"get": get(parameters=[parameter])}, "x-paths": {"get": {}}},
        components={"schemas": SCHEMAS},
        **{"x-more": {"B": {"items": {}}, "C": {}}},
    )
    walked = {(each.kind, each.node.path[-1:], each.is_target) for each in objects(library(value))}
    assert walked == {
        ("document", (), False),
        ("components", ("components",), False),
        ("path", ("/x",), False),
        ("operation", ("get",), False),
        ("response", ("200",), False),
        ("parameter", (0,), False),
        ("schema", ("schema",), False),
        ("schema", ("A",), False),
        ("schema", ("x-a",), False),
        ("schema", ("a",), False),
        ("schema", ("B",), True),
        ("schema", ("items",), False),
    }


def test_an_object_without_a_target_ends_the_walk() -> None:
    value = document(components={"schemas": {"A": {"$ref": "#/nowhere"}, "B": {"items": 5}}})
    assert [each.node.path[-1] for each in objects(library(value)) if each.kind == "schema"] == [
        *("B", "A")
    ]
