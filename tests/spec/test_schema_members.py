"""Other spellings of the members that a schema names are found."""

import pytest

from engine.spec.expression import lenient_member, lenient_name
from engine.spec.schema_members import SchemaMembers

SCHEMA = {
    "properties": {"n": {}, "options": {"properties": {"usage": {"const": True}}}},
    "required": ["model"],
    "anyOf": [{"properties": {"stop": {"items": {"required": ["text"]}}}}],
    "not": {"dependentRequired": {"user": ["team"]}},
    "if": {"dependentSchemas": {"x": {"prefixItems": [{"properties": {"first": {}}}]}}},
}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"n": 1, "model": "a", "other": {"N": 2}}, None),
        ({"n": 1, "N": 2}, ("N", "n")),
        ({"N": 2}, ("N", "n")),
        ({"MODEL": "a"}, ("MODEL", "model")),
        ({"options": {"Usage": True}}, ("Usage", "usage")),
        ({"stop": [{"text": 1}, {"teXt": 1}]}, ("teXt", "text")),
        ({"\u017ftop": 1}, ("\u017ftop", "stop")),
        ({"options": {"us_age": True}}, ("us_age", "usage")),
        ({"User": 1}, ("User", "user")),
        ({"Team": 1}, ("Team", "team")),
        ([{"First": 1}], ("First", "first")),
        ("N", None),
        ([1, None], None),
    ],
)
def test_another_spelling_is_found_where_the_schema_has_the_name(value, expected):
    assert SchemaMembers(SCHEMA).misspelt(value, lenient_member) == expected


def test_names_of_forms_are_read_leniently():
    assert SchemaMembers(SCHEMA).misspelt({"n[]": 1}, lenient_name) == ("n[]", "n")


@pytest.mark.parametrize("schema", [True, {}, {"type": "object"}, {"minProperties": 2}])
def test_a_schema_may_name_nothing(schema):
    assert not SchemaMembers(schema)


def test_two_names_of_a_schema_may_differ_in_case_alone():
    assert (
        SchemaMembers({"properties": {"n": {}, "N": {}}}).misspelt({"N": 1}, lenient_member) is None
    )
