"""JSON Schema and Gemini's subset of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from engine.translations.generate_content.schemas import SubsetWriter, to_json_schema
from engine.translations.neutral.members import WrongType
from tests.support.each import each

PLACE = "tools[3]"


def subset(schema: Any) -> Any:
    return json.loads(bytes(SubsetWriter().write(Raw(json.dumps(schema).encode()), PLACE)))


def json_schema(schema: Any) -> Any:
    return json.loads(bytes(to_json_schema(Raw(json.dumps(schema).encode()), PLACE)))


def doubling(levels: int) -> Any:
    """A schema that becomes 2^levels schemas where references are written out."""
    definitions: dict[str, Any] = {
        f"a{level}": {
            "properties": {
                "x": {"$ref": f"#/$defs/a{level + 1}"},
                "y": {"$ref": f"#/$defs/a{level + 1}"},
            }
        }
        for level in range(levels)
    }
    definitions[f"a{levels}"] = {"type": "string"}
    return {"$ref": "#/$defs/a0", "$defs": definitions}


def nested(levels: int, keyword: str = "items") -> Any:
    schema: Any = {"type": "string"}
    for _ in range(levels):
        schema = {keyword: schema}
    return schema


@each(
    ("schema", "expected"),
    [
        ({"type": "object"}, {"type": "OBJECT"}),
        ({"type": ["string", "null"]}, {"nullable": True, "type": "STRING"}),
        (
            {"type": ["string", "integer"]},
            {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]},
        ),
        ({"type": "null"}, {"type": "NULL"}),
        ({"const": "a"}, {"type": "STRING", "enum": ["a"]}),
        ({"enum": ["a", None]}, {"nullable": True, "type": "STRING", "enum": ["a"]}),
        ({"type": "integer", "enum": [1, 2]}, {"type": "INTEGER"}),
        ({"const": 1}, {}),
        ({"oneOf": [{"type": "string"}]}, {"type": "STRING"}),
        (
            {"anyOf": [{"type": "string", "title": "a"}, {"type": "null"}], "title": "b"},
            {"nullable": True, "type": "STRING", "title": "b"},
        ),
        (
            {"oneOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]},
            {"nullable": True, "anyOf": [{"type": "STRING"}, {"type": "NUMBER"}]},
        ),
        ({"allOf": [{"type": "string"}]}, {"type": "STRING"}),
        ({"allOf": [{"type": "string"}, {"maxLength": 9}]}, {}),
        (
            {"$ref": "#/$defs/a", "description": "b", "$defs": {"a": {"type": "string"}}},
            {"type": "STRING", "description": "b"},
        ),
        ({"type": "string", "format": "uuid"}, {"type": "STRING"}),
        ({"format": "int32"}, {"format": "int32"}),
        ({"additionalProperties": False, "$id": "x", "required": ["a"]}, {"required": ["a"]}),
        (
            {"$defs": {"a": {"type": "string"}}, "items": {"$ref": "#/$defs/a"}},
            {"items": {"type": "STRING"}},
        ),
        (
            {"$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"},
            {"items": {"type": "OBJECT"}},
        ),
        ({"$ref": "elsewhere.json"}, {"type": "OBJECT"}),
        ({"items": True}, {"items": {"type": "OBJECT"}}),
    ],
)
def test_a_json_schema_becomes_one_of_the_subset(schema: Any, expected: Any) -> None:
    assert subset(schema) == expected


@each(
    ("schema", "message"),
    [
        ({"enum": 1}, "'enum' is a list"),
        ({"required": "a"}, "'required' is a list"),
        ({"anyOf": {}}, "'anyOf' is a list"),
        ({"properties": []}, "'properties' is an object"),
        ({"type": {}}, "'type' is a word"),
        (nested(70), "at most 64 levels"),
        (nested(400), "at most 64 levels"),
        (doubling(20), "references are written out"),
    ],
)
def test_a_json_schema_that_cannot_be_written_names_its_place(schema: Any, message: str) -> None:
    with pytest.raises(WrongType, match=message) as excinfo:
        subset(schema)
    assert excinfo.value.place == PLACE


def test_references_may_make_a_schema_larger() -> None:
    assert json.dumps(subset(doubling(10))).count("STRING") == 1024


def test_the_schemas_of_a_request_share_what_references_may_become() -> None:
    writer, schema = SubsetWriter(), Raw(json.dumps(doubling(11)).encode())
    writer.write(schema, "tools[0]")
    writer.write(schema, "tools[1]")
    with pytest.raises(WrongType, match="references are written out") as excinfo:
        writer.write(schema, "tools[2]")
    assert excinfo.value.place == "tools[2]"


def test_large_schemas_without_references_are_written() -> None:
    schema: Any = {"properties": {f"p{number}": {} for number in range(60_000)}}
    assert len(subset(schema)["properties"]) == 60_000


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
