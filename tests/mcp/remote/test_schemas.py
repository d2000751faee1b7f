"""Schemas of other servers' tools, honest and hostile."""

from engine.mcp.remote.schemas import object_schema
from tests.support.each import each


@each(
    "schema, cleaned",
    [
        ({}, {}),
        ({"type": "object", "$schema": "x"}, {}),
        ({"$id": "http://x/a", "id": "b", "$comment": "c"}, {"$comment": "c"}),
        ({"properties": {"a": True}}, {"properties": {"a": {}}}),
        ({"properties": {"a": False}}, {"properties": {"a": {"not": {}}}}),
        ({"properties": {"a": {"x-mcp-header": "A"}}}, {"properties": {"a": {}}}),
        ({"properties": {"id": {"id": "a"}}}, {"properties": {"id": {}}}),
        ({"properties": {"a": {"$ref": "http://x/y"}}}, {"properties": {"a": {}}}),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"enum": [True]}}}, None),
        ({"additionalProperties": False, "required": ["a"], "x-y": {"z": [1]}}, None),
        ({"properties": {"a": {"type": ["string", "null"], "minLength": 1}}}, None),
        ({"anyOf": [{"required": ["a"]}, True], "not": {"const": {"properties": 5}}}, None),
        ({"properties": {"a": {"items": [{"type": "string"}, False]}}}, None),
    ],
)
def test_what_clients_read_passes_and_the_rest_is_left_out(schema, cleaned):
    assert object_schema(schema) == {"type": "object", **(schema if cleaned is None else cleaned)}


@each(
    "keyword, values",
    [
        ("properties", [5, "ab", ["a"], None, True]),
        ("required", [5, "a", [1], {}, []]),
        ("$defs", [5, []]),
        ("allOf", [5, [], [5], {}]),
        ("additionalProperties", [5, None, "x"]),
        ("items", [5, [], "x"]),
        ("description", [5, ["x"]]),
        ("title", [None, {}]),
        ("$ref", [5, ["#"], {"#": 1}]),
        ("pattern", [5, {}]),
        ("enum", [5, [], {}]),
        ("minLength", ["1", True, None, [1]]),
        ("uniqueItems", [1, "true"]),
    ],
)
def test_a_keyword_of_another_form_is_left_out(keyword, values):
    for value in values:
        schema = {"properties": {"a": {keyword: value}}}
        assert object_schema(schema) == {"type": "object", "properties": {"a": {}}}, value


@each("value", [5, "file", ["file"], [5], {}])
def test_a_type_that_is_none_is_left_out(value):
    schema = {"properties": {"a": {"type": value}, "b": 5}}
    assert object_schema(schema) == {"type": "object", "properties": {"a": {}}}
    several = {"properties": {"a": {"type": ["string", value]}}}
    assert object_schema(several)["properties"]["a"] == {"type": ["string"]}


def test_texts_within_a_schema_are_cleaned():
    schema = {"type": "object", "properties": {"a": {"description": "A\u200bb." + "c" * 900}}}
    text = object_schema(schema)["properties"]["a"]["description"]
    assert text.startswith("Ab.")
    assert len(text) <= 400
