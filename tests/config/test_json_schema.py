"""The two forms of the schema: with `${VAR}` for editors, and without for values filled in."""

import json

import pytest

from engine import policies
from engine.config.json_schema import editor_schema, exact_schema
from engine.source import files

POLICY = {
    "description": "One.",
    "type": "object",
    "minProperties": 1,
    "maxProperties": 1,
    "properties": {"max_body": {"type": "string", "pattern": "^[0-9]+$"}},
}
CHOICE = [{"type": "string", "enum": ["first"]}, {"type": "object", "maxProperties": 1}]
ANSWER = {"enum": ["models", "health"]}
OPEN_ANSWER = {"type": "string", "minLength": 1}
OPEN_CHOICE = [{"type": "string"}, {"type": "object", "minProperties": 1, "maxProperties": 1}]
REFERENCE = {"$ref": "#/$defs/reference"}


def wrap_stages(schema):
    """A whole schema with one key."""
    listed = {"type": "array", "items": {k: v for k, v in POLICY.items() if k != "properties"}}
    below = {
        "policies": listed,
        "choose": {"default": "first", "anyOf": OPEN_CHOICE},
        "route": {"type": "object", "properties": {"answer": {"x-modelway": 1, **OPEN_ANSWER}}},
    }
    return {"type": "object", "properties": {"key": schema}, "$defs": below}


FORMS = [
    ({"type": "string"}, {"type": "string"}),
    ({"type": "string", "minLength": 1}, {"type": "string", "minLength": 1}),
    (
        {"type": "integer", "minimum": 1},
        {"type": ["integer", "string"], "minimum": 1, "pattern": r"\$\{"},
    ),
    ({"type": "boolean"}, {"type": ["boolean", "string"], "pattern": r"\$\{"}),
    ({"type": ["array", "null"]}, {"type": ["array", "null", "string"], "pattern": r"\$\{"}),
    ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
    ({"type": "string", "pattern": "^a$"}, {"type": "string", "pattern": r"^a$|\$\{"}),
    (
        {"type": ["boolean", "string"], "pattern": "^/"},
        {"type": ["boolean", "string"], "pattern": r"^/|\$\{"},
    ),
    (
        {"description": "D.", "type": "string", "enum": ["a", "b"], "default": "a"},
        {
            "description": "D.",
            "default": "a",
            "anyOf": [{"type": "string", "enum": ["a", "b"]}, REFERENCE],
        },
    ),
    ({"const": 1}, {"anyOf": [{"const": 1}, REFERENCE]}),
    (
        {"anyOf": [{"type": "array", "items": {"type": "number"}}, {"type": "integer"}]},
        {
            "anyOf": [
                {
                    "type": "array",
                    "items": {"type": ["number", "string"], "pattern": r"\$\{"},
                },
                {"type": "integer"},
                REFERENCE,
            ]
        },
    ),
    (
        {"anyOf": [{"type": "object", "properties": {"a": {"const": 2}}}, {"type": "string"}]},
        {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {"a": {"anyOf": [{"const": 2}, REFERENCE]}},
                },
                {"type": "string"},
            ]
        },
    ),
    ({"$ref": "#/$defs/other"}, {"$ref": "#/$defs/other"}),
]


@pytest.mark.parametrize(("plain", "form"), FORMS, ids=[json.dumps(plain) for plain, _ in FORMS])
def test_a_key_has_two_forms_and_each_leads_to_the_other(plain, form):
    result = editor_schema(wrap_stages(plain), POLICY, CHOICE, ANSWER)
    assert result["properties"]["key"] == form
    assert exact_schema(result) == wrap_stages(plain)
    assert editor_schema(result, POLICY, CHOICE, ANSWER) == result
    assert exact_schema(wrap_stages(plain)) == wrap_stages(plain)


def test_the_options_of_policies_are_part_of_the_form_for_editors():
    items = editor_schema(wrap_stages({}), POLICY, CHOICE, ANSWER)["$defs"]["policies"]["items"]
    assert items["properties"]["max_body"]["pattern"] == r"^[0-9]+$|\$\{"


def test_the_strategies_are_part_of_the_form_for_editors():
    assert editor_schema(wrap_stages({}), POLICY, CHOICE, ANSWER)["$defs"]["choose"] == {
        "default": "first",
        "anyOf": [*CHOICE, REFERENCE],
    }


def test_the_own_answers_are_part_of_the_form_for_editors():
    route = editor_schema(wrap_stages({}), POLICY, CHOICE, ANSWER)["$defs"]["route"]
    assert route["properties"]["answer"] == {"x-modelway": 1, "anyOf": [ANSWER, REFERENCE]}


def test_a_key_that_is_added_by_hand_in_the_plain_form_is_composed_with_the_rest():
    schema = json.loads(files.SCHEMA.read_text("utf-8"))
    added = {"description": "Added.", "type": "integer", "minimum": 1}
    schema["$defs"]["server"]["properties"]["added"] = added
    result = editor_schema(schema, policies.schema(), CHOICE, ANSWER)
    assert result["$defs"]["server"]["properties"]["added"]["type"] == ["integer", "string"]
    assert exact_schema(result)["$defs"]["server"]["properties"]["added"] == added
