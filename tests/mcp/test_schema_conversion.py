"""Schemas for agents: 2020-12, complete in themselves, and what they accept stays the same."""

import jsonschema_rs
import pytest

from engine.mcp.listed_tool import list_entry
from tests.support.each import each
from tests.support.tool_plans import shop_plan, shop_tools
from tests.support.tool_schemas import input_schema


@each(
    ("version", "schema", "body"),
    [
        ("3.0.3", "{type: string, nullable: true}", {"type": ["string", "null"]}),
        (
            "3.0.3",
            "{type: string, nullable: true, enum: [a]}",
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        (
            "3.0.3",
            "{type: integer, minimum: 1, exclusiveMinimum: true, maximum: 9}",
            {"type": "integer", "exclusiveMinimum": 1, "maximum": 9},
        ),
        ("3.0.3", "{type: string, format: byte}", {"type": "string", "contentEncoding": "base64"}),
        ("3.1.0", "{type: number, format: double, xml: {name: x}, x-y: 1}", {"type": "number"}),
        ("3.1.0", "{type: string, format: date-time}", {"type": "string", "format": "date-time"}),
        ("3.1.0", "{type: string, example: e, externalDocs: {url: u}}",
         {"type": "string", "examples": ["e"]}),
        ("3.1.0", "{type: object, properties: {a: true, b: false}}",
         {"type": "object", "properties": {"a": {}, "b": {"not": {}}}}),
        ("3.1.0", "{type: object, additionalProperties: false}",
         {"type": "object", "additionalProperties": False}),
        ("3.1.0", "{type: object, required: [a, b], properties: {a: {readOnly: true}, b: {}}}",
         {"type": "object", "properties": {"b": {}}, "required": ["b"]}),
        ("3.1.0", "{type: object, properties: {a_b: {title: A b, type: string}, c: {title: D}}}",
         {"type": "object", "properties": {"a_b": {"type": "string"}, "c": {"title": "D"}}}),
        ("3.1.0", "{type: array, items: {$ref: '#/components/schemas/Small'}}",
         {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}),
        ("3.1.0", "{$id: 'https://a.example.com', $comment: c, type: string}",
         {"type": "string"}),
    ],
)  # fmt: skip
def test_a_schema_is_converted(version, schema, body, tmp_path_factory):
    converted = input_schema(tmp_path_factory.mktemp("plan"), schema, version)
    assert converted["properties"]["body"] == body
    assert "$defs" not in converted


def test_a_name_that_is_no_component_has_a_digest(tmp_path):
    item = "{type: array, items: {$ref: '#/components/schemas/odd name'}}"
    (name,) = input_schema(tmp_path, item)["$defs"]
    assert name.startswith("odd_name_")
    assert len(name) == len("odd_name_") + 6


def test_a_discriminator_names_its_branches(tmp_path):
    schema = (
        "{oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}],"
        " discriminator: {propertyName: kind, mapping: {c: '#/components/schemas/Cat',"
        " d: '#/components/schemas/Dog'}}}"
    )
    validator = jsonschema_rs.Draft202012Validator(input_schema(tmp_path, schema))
    assert validator.is_valid({"body": {"kind": "c", "meow": 1}})
    assert not validator.is_valid({"body": {"kind": "x", "meow": 1}})


def test_schemas_of_answers_have_what_is_read_only(tmp_path):
    tool = shop_tools(shop_plan(tmp_path, output_schemas=True))["createOrder"]
    assert tool.output_schema is not None
    assert [*tool.output_schema["properties"]] == [
        *("id", "item", "quantity", "currency", "parent")
    ]
    assert [*tool.input_schema["properties"]["body"]["properties"]] == [
        *("item", "quantity", "secret", "currency", "parent")
    ]


@pytest.mark.parametrize("text", ["x-mcp-header", "nullable", "#/components", "'readOnly'", "<b>"])
def test_nothing_that_clients_stumble_over_is_listed(tmp_path, text):
    tools = shop_tools(shop_plan(tmp_path, output_schemas=True))
    assert text not in str([list_entry(tool) for tool in tools.values()])
