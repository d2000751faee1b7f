"""Definitions of schemas for agents."""

import jsonschema_rs

from tests.support.tool_schemas import input_schema


def test_a_cycle_is_kept_in_definitions(tmp_path):
    schema = input_schema(tmp_path, "{$ref: '#/components/schemas/Tree'}")
    tree = {"type": "object", "properties": {"left": {"$ref": "#/$defs/Tree"}}}
    assert schema["properties"]["body"] == tree
    assert schema["$defs"] == {"Tree": tree}
    validator = jsonschema_rs.Draft202012Validator(schema)
    assert validator.is_valid({"body": {"left": {"left": {}}}})
    assert not validator.is_valid({"body": {"left": {"left": 1}}})
