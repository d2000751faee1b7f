"""Members of a JSON body that its document does not name."""

from __future__ import annotations

import tracemalloc
from typing import Any

from engine.spec.schemas.member_finder import unknown_members
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
