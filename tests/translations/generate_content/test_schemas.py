"""Gemini's schemas as JSON Schema."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from engine.translations.generate_content.schemas import to_json_schema
from engine.translations.neutral.json_members import WrongType
from tests.support.each import each

PLACE = "tools[3]"


def json_schema(schema: Any) -> Any:
    return json.loads(bytes(to_json_schema(Raw(json.dumps(schema).encode()), PLACE)))


@each(
    ("schema", "expected"),
    [
        ({"type": "OBJECT", "nullable": True}, {"type": ["object", "null"]}),
        ({"type": "STRING", "maxLength": "9"}, {"type": "string", "maxLength": 9}),
        ({"maxLength": "٣"}, {"maxLength": "٣"}),
        ({"example": 1}, {"examples": [1]}),
        (
            {"type": "STRING", "format": "enum", "enum": ["a"], "nullable": True},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        (
            {"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}], "nullable": True},
            {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]},
        ),
        ({"properties": {"a": {"type": "NULL"}}}, {"properties": {"a": {"type": "null"}}}),
        ({"anyOf": [{"type": "NUMBER"}], "propertyOrdering": []}, {"anyOf": [{"type": "number"}]}),
    ],
)
def test_a_schema_of_geminis_becomes_a_json_schema(schema: Any, expected: Any) -> None:
    assert json_schema(schema) == expected


@each("levels", [70, 400, 3000])
def test_a_schema_of_geminis_that_is_too_deep_names_its_place(levels: int) -> None:
    text = b'{"items":' * levels + b"{}" + b"}" * levels
    with pytest.raises(WrongType, match="at most 64 levels") as excinfo:
        to_json_schema(Raw(text), PLACE)
    assert excinfo.value.place == PLACE
