"""The schemas of tools' arguments and of answers as OpenAI takes them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from engine.translations.neutral.json_members import Members, WrongType
from engine.translations.neutral.refusals import UNREADABLE
from engine.translations.neutral.request import ChatRequest, OutputFormat, Tool
from engine.translations.vendors.openai_schemas import read_schema, write_parameters, write_schema
from tests.support.each import each

OBJECT = {"type": "object", "properties": {}}
COMPLETE = {"type": "array", "items": {}}
FLAT = {
    "type": "object",
    "properties": {"a": COMPLETE},
    "description": "A.\n\nFurther keywords of its JSON Schema: "
    '{"anyOf":[{"properties":{"a":{"type":"array"}}}]}',
}
DEEP = b"[" * 5_000 + b"]" * 5_000


def written(schema: object) -> object:
    parameters = write_parameters(Tool(name="f", schema=Raw(json.dumps(schema).encode())))
    assert parameters is not None
    return json.loads(bytes(parameters))


@each(
    "schema,expected",
    [
        ({}, OBJECT),
        ({"type": "object"}, OBJECT),
        ({"properties": {}, "required": []}, {**OBJECT, "required": []}),
        ({"type": ["object", "null"]}, {"type": ["object", "null"]}),
        ({"anyOf": [{"properties": {"a": {"type": "array"}}}], "description": "A."}, FLAT),
        (
            {**OBJECT, "properties": {"type": {"type": "array"}}},
            {**OBJECT, "properties": {"type": {"type": "array", "items": {}}}},
        ),
        (
            {**OBJECT, "properties": {"enum": {"type": "array"}, "default": {"type": "array"}}},
            {**OBJECT, "properties": {"enum": COMPLETE, "default": COMPLETE}},
        ),
        (
            {**OBJECT, "properties": {"items": {"type": "array"}}, "required": ["items"]},
            {**OBJECT, "properties": {"items": COMPLETE}, "required": ["items"]},
        ),
        (
            {**OBJECT, "$defs": {"const": {"type": "array", "items": {"type": "array"}}}},
            {**OBJECT, "$defs": {"const": {"type": "array", "items": COMPLETE}}},
        ),
        (
            {**OBJECT, "properties": {"a": {"type": ["array", "null"]}, "b": True}},
            {**OBJECT, "properties": {"a": {"type": ["array", "null"], "items": {}}, "b": True}},
        ),
        (
            {**OBJECT, "properties": {"a": {"enum": [{"type": "array"}]}, "b": {"type": "array"}}},
            {**OBJECT, "properties": {"a": {"enum": [{"type": "array"}]}, "b": COMPLETE}},
        ),
        (
            {**OBJECT, "properties": {"a": {"anyOf": [{"type": "array"}, {"type": "null"}]}}},
            {**OBJECT, "properties": {"a": {"anyOf": [COMPLETE, {"type": "null"}]}}},
        ),
        (
            {**OBJECT, "properties": {"a": {"type": "array", "prefixItems": [OBJECT]}}},
            {**OBJECT, "properties": {"a": {"type": "array", "prefixItems": [OBJECT]}}},
        ),
    ],
)
def test_a_schema_is_completed(schema: object, expected: object) -> None:
    assert written(schema) == expected
    assert written(expected) == expected


def test_a_complete_schema_is_itself() -> None:
    schema = Raw(b'{ "type":"object", "properties":{ "a":{"type":"array","items":{}} } }')
    assert bytes(write_parameters(Tool(name="f", schema=schema)) or b"") == bytes(schema)
    assert write_parameters(Tool(name="f")) is None


def test_a_long_schema_is_completed_each_time() -> None:
    names = {f"property {number}": {"type": "array"} for number in range(900)}
    items = {name: {"type": "array", "items": {}} for name in names}
    assert written({**OBJECT, "properties": names}) == {**OBJECT, "properties": items}


@each(
    "text",
    [b'{"type": "array", "default": 1e999}', b'{"a": {"type": "array"}, "b": %b}' % DEEP],
)
def test_a_schema_that_cannot_be_read_is_refused(text: bytes) -> None:
    with pytest.raises(UNREADABLE):
        write_parameters(Tool(name="f", schema=Raw(text)))


def test_a_schema_that_is_no_object_is_refused() -> None:
    with pytest.raises(WrongType):
        write_parameters(Tool(name="f", schema=Raw(b"[]")))


@each(
    "output",
    [
        OutputFormat(kind="json_schema", name="n", schema=Raw(b'{"a":1.0}')),
        OutputFormat(kind="json_schema", name="n", description="d", schema=Raw(b"{}"), strict=True),
    ],
)
def test_schemas_survive(output: OutputFormat) -> None:
    def encoded(value: Any) -> Any:
        return json.loads(bytes(value))

    request = ChatRequest(language="responses", model="m", messages=[])
    members = {**write_schema(request, output, None), "schema": encoded(output.schema)}
    text = json.dumps(members, separators=(",", ":")).encode()
    assert read_schema(Members(text)) == output
