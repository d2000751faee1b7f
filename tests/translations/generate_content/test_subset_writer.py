"""JSON Schema in Gemini's subset."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from msgspec import Raw

from engine.translations.generate_content.subset_writer import SubsetWriter
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.losses import TooLarge, most_bytes
from tests.support.each import each

PLACE = "tools[3].function.parameters"


def subset(schema: Any) -> Any:
    text = json.dumps(schema).encode()
    return json.loads(bytes(SubsetWriter(len(text)).write(Raw(text), PLACE)))


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
        ({"type": [f"a{number}" for number in range(17)]}, "16 at most"),
        (nested(70), "at most 64 levels"),
        (nested(400), "at most 64 levels"),
    ],
)
def test_a_json_schema_that_cannot_be_written_names_its_place(schema: Any, message: str) -> None:
    with pytest.raises(WrongType, match=message) as excinfo:
        subset(schema)
    assert excinfo.value.place == PLACE


def test_references_may_make_a_schema_larger() -> None:
    assert json.dumps(subset(doubling(10))).count("STRING") == 1024


def wide(references: int, text: str) -> Any:
    """A schema with so many references to one that has a long text."""
    properties = {f"p{number}": {"$ref": "#/$defs/a"} for number in range(references)}
    return {"properties": properties, "$defs": {"a": {"type": "string", "description": text}}}


def circles(schemas: int) -> Any:
    """Schemas each of which refers to every other one."""
    names = [f"a{number}" for number in range(schemas)]
    properties = {name: {"$ref": f"#/$defs/{name}"} for name in names}
    return {"$ref": "#/$defs/a0", "$defs": {name: {"properties": properties} for name in names}}


def alternatives(levels: int) -> Any:
    """References that grow below `anyOf` and `items`, and stand beside other keywords."""
    definitions: dict[str, Any] = {f"a{levels}": {"enum": ["x" * 500]}}
    for level in range(levels):
        reference = {"$ref": f"#/$defs/a{level + 1}"}
        titled = {**reference, "title": "t"}
        definitions[f"a{level}"] = {"anyOf": [reference, {"items": reference}, titled]}
    return {"properties": {"few": {}, "many": {"$ref": "#/$defs/a0"}}, "$defs": definitions}


def ladder(levels: int, properties: int) -> Any:
    """A schema that is large at its deepest level, with a reference to each level."""
    schema: Any = {"properties": {f"p{number}": {} for number in range(properties)}}
    path, references = "#/properties/deep", {}
    for level in range(levels):
        schema = {"properties": {"x": schema}}
        references[f"r{level}"] = {"$ref": path}
        path += "/properties/x"
    return {"properties": {"deep": schema, **references}}


def inside(schema: Any) -> Any:
    """A schema with another one inside, whose definitions stand at the top."""
    many = {"properties": {"many": schema, "one": {"type": "string"}}}
    return {"properties": {"few": {"items": many}}, "$defs": schema.pop("$defs")}


GROWING = [
    (wide(10_000, "x" * 180_000), PLACE),
    (doubling(20), PLACE),
    (doubling(30), PLACE),
    (alternatives(15), f"{PLACE}.properties.many"),
    (circles(12), PLACE),
    (ladder(30, 10_000), PLACE),
    (inside(wide(10_000, "x" * 9_000)), f"{PLACE}.properties.few.items.properties.many"),
]


@each(("schema", "place"), GROWING)
def test_what_references_become_is_refused_before_it_is_in_memory(schema: Any, place: str) -> None:
    text = json.dumps(schema).encode()
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge) as excinfo:
            SubsetWriter(len(text)).write(Raw(text), PLACE)
        allocated = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert excinfo.value.place == place
    assert allocated < 20_000_000


@each("schema", [circles(6), doubling(12), alternatives(4), ladder(5, 100), wide(40, "x" * 5_000)])
def test_what_references_become_is_measured_as_it_is_encoded(schema: Any) -> None:
    text = json.dumps(schema).encode()
    size = len(bytes(SubsetWriter(len(text)).write(Raw(text), PLACE)))
    spare = most_bytes(0) - size

    def written(more: int) -> None:
        """Write it where so much room, and `more`, is left."""
        writer = SubsetWriter(0)
        filler = {"description": "x" * (spare - more - len('{"description":""}'))}
        writer.write(Raw(json.dumps(filler).encode()), "tools[0]")
        writer.write(Raw(text), PLACE)

    written(0)
    with pytest.raises(TooLarge):
        written(-1)


def test_the_schemas_of_a_request_share_what_references_may_become() -> None:
    writer, schema = SubsetWriter(0), Raw(json.dumps(doubling(13)).encode())
    writer.write(schema, "tools[0]")
    writer.write(schema, "tools[1]")
    with pytest.raises(TooLarge) as excinfo:
        writer.write(schema, "tools[2]")
    assert excinfo.value.place == "tools[2]"


def test_large_schemas_without_references_are_written() -> None:
    schema: Any = {"properties": {f"p{number}": {} for number in range(60_000)}}
    assert len(subset(schema)["properties"]) == 60_000
