"""`required` that repeats a name, or stands on a property."""

from __future__ import annotations

import copy
from typing import Any

from tests.support.documents import repaired
from tests.support.each import each


@each(
    ("version", "schema", "result", "codes"),
    [
        ("3.1.0", {"required": ["a", "b", "a"]}, {"required": ["a", "b"]}, ["MW221"]),
        ("3.1.0", {"required": ["a"]}, {"required": ["a"]}, []),
        (
            "3.0.3",
            {"properties": {"a": {"required": True}, "b": {"required": False}}},
            {"properties": {"a": {}, "b": {}}, "required": ["a"]},
            ["MW222", "MW222"],
        ),
        (
            "3.0.3",
            {"properties": {"a": {"required": True}}, "required": ["a"]},
            {"properties": {"a": {}}, "required": ["a"]},
            ["MW222"],
        ),
        (
            "3.1.0",
            {"properties": {"required": {"type": "boolean"}}},
            {"properties": {"required": {"type": "boolean"}}},
            [],
        ),
    ],
)
def test_names_stand_once_in_the_schema_around_the_property(
    version: str, schema: Any, result: Any, codes: list[str]
) -> None:
    assert repaired(copy.deepcopy(schema), version=version) == (result, codes)
