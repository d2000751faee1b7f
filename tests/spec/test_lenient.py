"""The more open reading of a schema."""

from __future__ import annotations

from typing import Any

import pytest

from engine.spec.schemas import Purpose, Schemas
from tests.support.documents import document, library

OTHER = {"type": "object", "required": ["q"], "properties": {"q": {"type": "string"}}}


def lenient(schema: Any, version: str) -> Any:
    schemas = {"Root": schema, "Other": OTHER}
    made = library(document(version=version, components={"schemas": schemas}))
    node = made.document.get("components").get("schemas").step("Root")
    return Schemas(made, Purpose.LENIENT).validator(node)


def properties(required: list[str] | None = None, **named: Any) -> dict[str, Any]:
    more = {"required": required} if required else {}
    return {"type": "object", "additionalProperties": False, "properties": named, **more}


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        (properties(a={"type": "string"}), [{"b": 1}, {"a": None}], [{"a": 1}, []]),
        (properties(["a"], a={"type": "string"}), [{"a": ""}], [{"a": None}, {}]),
        ({"type": "string", "enum": ["a", "b"]}, ["c"], [1]),
        ({"enum": ["a", 1]}, ["c", 2.5], [None, {}]),
        ({"type": "string", "enum": ["only"]}, ["only"], ["other"]),
        (properties(a={"type": "string", "enum": ["only"]}), [{"a": None}], [{"a": "other"}]),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, [1, 1.5], ["x"]),
        ({"oneOf": [{"type": "integer"}], "anyOf": [{"minimum": 5}]}, [5], [4, "x"]),
        (
            properties(a={"$ref": "#/components/schemas/Other"}),
            [{"a": None}, {"a": {"q": "x", "z": 1}}],
            [{"a": {}}, {"a": {"q": None}}],
        ),
    ],
)
def test_what_is_new_passes_and_what_is_wrong_does_not(
    version: str, schema: Any, right: list[Any], wrong: list[Any]
) -> None:
    validator = lenient(schema, version)
    assert [value for value in right if not validator.is_valid(value)] == []
    assert [value for value in wrong if validator.is_valid(value)] == []
