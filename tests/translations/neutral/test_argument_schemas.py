"""The schemas of tools' arguments as vendors take them."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from msgspec import Raw

from engine.translations.neutral.argument_schemas import arguments_schema
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.request import Tool
from tests.support.each import each
from tests.support.growth import MAX_GROWTH, Work, growth

Json = dict[str, Any]

TEXT, NUMBER = {"type": "string"}, {"type": "number"}
A = {"type": "object", "properties": {"a": TEXT}, "required": ["a"]}
B = {"type": "object", "properties": {"b": NUMBER, "c": TEXT}, "required": ["b", "c"]}
BOTH = {"a": TEXT, "b": NUMBER, "c": TEXT}


def written(schema: Json) -> Json:
    text = arguments_schema(Tool(name="f", schema=Raw(json.dumps(schema).encode())))
    assert text is not None
    result: Json = json.loads(bytes(text))
    return result


@each(
    "schema,properties,required",
    [
        ({"anyOf": [A, B]}, BOTH, []),
        ({"oneOf": [A, {**B, "required": ["a", "b"]}], "required": ["c"]}, BOTH, ["c"]),
        ({"oneOf": [A, {**A, "properties": {"d": TEXT}}]}, {"a": TEXT, "d": TEXT}, []),
        ({"allOf": [A, B]}, BOTH, ["a", "b", "c"]),
        ({**A, "anyOf": [{"required": ["b"]}, {"required": ["a"]}]}, A["properties"], ["a"]),
        ({**A, "not": {"required": ["b"]}, "enum": [{"a": "x"}]}, A["properties"], ["a"]),
        ({**A, "if": {"required": ["a"]}, "then": B}, A["properties"], ["a"]),
        ({"anyOf": [A, {"allOf": [B]}]}, BOTH, []),
        ({"$defs": {"B": B}, "oneOf": [A, {"$ref": "#/$defs/B"}]}, BOTH, []),
        ({"$defs": {"a/b": B}, "oneOf": [A, {"$ref": "#/$defs/a~1b"}]}, BOTH, []),
        ({**A, "anyOf": [{"properties": {"a": NUMBER}}]}, A["properties"], ["a"]),
        (
            {"$defs": {"B": {"anyOf": [{"$ref": "#/$defs/B"}]}}, "anyOf": [{"$ref": "#/$defs/B"}]},
            {},
            [],
        ),
        (
            {
                "anyOf": [
                    True,
                    7,
                    {"$ref": 7},
                    {"$ref": "#/$defs/B"},
                    {"properties": 7, "required": 7},
                ]
            },
            {},
            [],
        ),
        ({"anyOf": 7, "allOf": []}, {}, []),
    ],
)
def test_alternatives_at_the_top_become_members_and_words(
    schema: Json, properties: Json, required: list[str]
) -> None:
    result = written(schema)
    names = {"anyOf", "oneOf", "allOf", "not", "enum", "if", "then"}
    assert not result.keys() & names
    assert (result["type"], result["properties"]) == ("object", properties)
    assert result.get("required", []) == required
    words = result["description"].removeprefix("Further keywords of its JSON Schema: ")
    assert json.loads(words) == {key: schema[key] for key in schema.keys() & names}


def test_alternatives_take_time_linear_in_their_number() -> None:
    begin = time.process_time()
    result = written({"anyOf": [{"properties": {f"p{number}": {}}} for number in range(20_000)]})
    assert len(result["properties"]) == 20_000
    assert time.process_time() - begin < 3  # a copy of the members for each takes ten seconds


def test_a_description_stays_before_the_words() -> None:
    assert written({**A, "description": "Asks.", "anyOf": []})["description"] == (
        'Asks.\n\nFurther keywords of its JSON Schema: {"anyOf":[]}'
    )


@each(
    "schema,expected",
    [
        (None, None),
        (b'{"type": "object", "x": 1.0}', b'{"type": "object", "x": 1.0}'),
        (b'{"x": 1.0}', b'{"type":"object","x":1.0}'),
        (b'{"type": "object", "properties": null}', b'{"type":"object"}'),
        (b'{"type": null, "required": null, "anyOf": null}', b'{"type":"object"}'),
    ],
)
def test_the_schema_of_arguments_names_its_type(
    schema: bytes | None, expected: bytes | None
) -> None:
    text = arguments_schema(Tool(name="f", schema=None if schema is None else Raw(schema)))
    assert (None if text is None else bytes(text)) == expected


def test_a_schema_that_is_no_object_names_its_tool() -> None:
    with pytest.raises(WrongType) as excinfo:
        arguments_schema(Tool(name="f", schema=Raw(b"[]"), place="tools[0]"))
    assert excinfo.value.place == "tools[0]"


def test_a_definition_that_is_required_many_times_is_read_once() -> None:
    def prepare(size: int) -> Work:
        names = [f"n{number}" for number in range(size)]
        definitions = {"B": {"properties": {name: {} for name in names}, "required": names}}
        schema = {"$defs": definitions, "allOf": [{"$ref": "#/$defs/B"}] * size}
        tool = Tool(name="f", schema=Raw(json.dumps(schema).encode()))
        return lambda: arguments_schema(tool)

    assert growth(prepare) < MAX_GROWTH
