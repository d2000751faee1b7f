"""Members of a JSON body that its document does not name."""

from __future__ import annotations

import tracemalloc
from typing import Any

from engine.spec.schemas.member_finder import read_only_members, unknown_members
from tests.support.documents import document, library
from tests.support.each import each
from tests.support.schemas import resolve

TREE = {"$ref": "Tree"}


@each(
    ("schema", "value", "unknown"),
    [
        ({"properties": {"a": {}}}, {"a": 1, "b": 2}, [("b",)]),
        ({"properties": {"a": {}}}, [1], []),
        ({}, {"b": 2}, []),
        ({"properties": {"a": {}}, "additionalProperties": True}, {"b": 2}, []),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"b": 2}, [("b",)]),
        ({"properties": {"a": {}}, "patternProperties": {"^x": {}}}, {"b": 2}, []),
        (
            {"anyOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]},
            {"b": 2, "c": 3},
            [("c",)],
        ),
        ({"additionalProperties": {"properties": {"a": {}}}}, {"x": {"b": 1}}, [("x", "b")]),
        (TREE, {"children": [{"size": 1}, {"length": 2}]}, [("children", 1, "length")]),
        (TREE, {"other": {"length": 2}}, [("other",)]),
    ],
)
def test_the_paths_of_unknown_members_are_found(schema: Any, value: Any, unknown: Any) -> None:
    assert list(unknown_members(schema, resolve).paths(value)) == unknown


def test_a_value_may_be_nested_deeper_than_python_recurses() -> None:
    value: Any = {"length": 1}
    for _ in range(5_000):
        value = {"children": [value]}
    (path,) = unknown_members(TREE, resolve).paths(value)
    assert (len(path), path[-1]) == (10_001, "length")


def test_members_that_lie_deep_are_held_without_their_paths() -> None:
    value: Any = [{"x": 1} for _ in range(1_000)]
    for _ in range(1_000):
        value = [value]
    tracemalloc.start()
    try:
        assert not list(unknown_members({}, resolve).paths(value))
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


ID = {"type": "string", "readOnly": True}
REF = {"$ref": "#/components/schemas/Id"}
LOOP = {"$ref": "#/components/schemas/Loop"}


@each(
    ("schema", "value", "paths"),
    [
        ({"properties": {"id": ID, "n": {}}}, {"id": 1, "n": 2}, [("id",)]),
        ({"properties": {"id": REF}}, {"id": 1}, [("id",)]),
        ({"properties": {"id": {"allOf": [REF, {"maxLength": 2}]}}}, {"id": 1}, [("id",)]),
        ({"allOf": [{"properties": {"id": ID}}, {"required": ["n"]}]}, {"id": 1}, [("id",)]),
        ({"items": {"properties": {"id": ID}}}, [{}, {"id": 1}], [(1, "id")]),
        ({"properties": {"a": {"items": {"properties": {"id": ID}}}}}, {"a": [{"id": 1}]}, None),
        ({"additionalProperties": {"properties": {"id": ID}}}, {"x": {"id": 1}}, [("x", "id")]),
        ({"oneOf": [{"properties": {"id": ID}}, {"properties": {"n": {}}}]}, {"id": 1}, [("id",)]),
        ({"oneOf": [{"properties": {"id": ID}}, {"properties": {"id": {}}}]}, {"id": 1}, []),
        ({"properties": {"id": {**ID, "readOnly": False}}}, {"id": 1}, []),
        (LOOP, {"next": {"next": {"id": 1}}, "id": 2}, [("id",), ("next", "next", "id")]),
        ({"properties": {"id": ID}}, 5, []),
        ({"properties": {"id": ID}}, {"id": {"id": 1}}, [("id",)]),
    ],
)
def test_they_are_found(schema: Any, value: Any, paths: Any) -> None:
    loop = {"properties": {"id": ID, "next": LOOP}}
    files = library(document(components={"schemas": {"Root": schema, "Id": ID, "Loop": loop}}))
    root = files.document.get("components").get("schemas").step("Root")
    members = read_only_members(root.value, root.follow)
    assert list(members.paths(value)) == ([("a", 0, "id")] if paths is None else paths)
