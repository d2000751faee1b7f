"""The keyword because of which a schema cannot be compiled is found at its place."""

from __future__ import annotations

import json
from typing import Any

from engine.source.problem import Path
from engine.spec.schemas import broken_keyword
from engine.spec.schemas.schema_validator import SchemaPart
from tests.support.each import each

BROKEN = {"maxLength": 5, "pattern": "("}
REFERENCE = {"$ref": "#/Part"}
URI = "file:///api.yaml"


def place(schema: Any, part: Any = None) -> Path | None:
    """The path of the broken keyword of a schema at `/Root`, or of the part that it refers to."""
    root = SchemaPart(URI, ("Root",), json.dumps(schema))
    parts = () if part is None else (SchemaPart(URI, ("Part",), json.dumps(part)),)
    broken = broken_keyword.find(False, root, parts, "reason")
    return None if broken is None else broken.path


@each(
    ("schema", "path"),
    [
        (BROKEN, ("pattern",)),
        ({"items": BROKEN}, ("items", "pattern")),
        ({"properties": {"a": {}, "b": BROKEN}}, ("properties", "b", "pattern")),
        ({"anyOf": [{}, {"not": BROKEN}]}, ("anyOf", 1, "not", "pattern")),
        ({"patternProperties": {"(": {}}}, ("patternProperties",)),
        ({"properties": 5}, ("properties",)),
        ({"type": "object"}, None),
    ],
)
def test_it_is_found_within_the_schema(schema: Any, path: Path | None) -> None:
    assert place(schema) == (None if path is None else ("Root", *path))


def test_it_is_found_in_what_the_schema_refers_to() -> None:
    assert place({"items": REFERENCE}, {"properties": {"a": BROKEN}}) == (
        *("Part", "properties", "a", "pattern"),
    )


def test_a_part_that_refers_to_itself_is_searched() -> None:
    part = {"properties": {"a": REFERENCE, "b": BROKEN}}
    assert place(REFERENCE, part) == ("Part", "properties", "b", "pattern")


def test_a_schema_that_is_nested_too_deeply_is_cut_at_a_depth() -> None:
    schema: dict[str, Any] = {}
    for _ in range(400):
        schema = {"items": schema}
    broken = broken_keyword.find(
        False, SchemaPart(URI, (), json.dumps(schema)), (), "Recursion limit reached"
    )
    assert broken is not None
    assert len(broken.path) == 100
