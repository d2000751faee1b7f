"""What lenient parsers take a value for."""

import jsonschema_rs
import pytest

from engine.spec.expression import lenient_member, lenient_name
from engine.spec.lenient_values import LenientReading, SchemaMembers
from tests.support.each import each

TRUE, ABOVE = {"const": True}, {"exclusiveMinimum": 4096}
WORD = {"enum": ["priority", "flex"]}


def refuses(schema, value):
    return jsonschema_rs.Draft202012Validator(schema).is_valid(LenientReading(schema).read(value))


@each(
    ("schema", "value"),
    [
        *((TRUE, value) for value in (1, 1.0, -1, 2, "true", "True", " TRUE ", "yes", "on", "1")),
        *((TRUE, value) for value in ("t", "Y", "enabled", [True], ["yes"], [[1]])),
        *((TRUE, value) for value in ([1, 2], [False, False], {"a": 1}, [{"a": False}])),
        *(({"const": False}, value) for value in (0, 0.0, "false", "No", "off", "0", "", [False])),
        *(
            (ABOVE, value)
            for value in ("5000", " 5000 ", "5000.0", "5e3", "5_000", "+5000", "0x1388")
        ),
        *(
            (ABOVE, value)
            for value in ("5000 tokens", "1e999", "Infinity", "inf", "NaN", "9" * 400)
        ),
        *((ABOVE, value) for value in ([5000], ["5000"], "0b1111111111111", "０５０００")),
        ({"const": 5}, "5"),
        ({"const": 5}, "5.0"),
        ({"const": 1}, True),
        ({"maximum": 0}, False),
        ({"maximum": 0}, "-Infinity"),
        *((WORD, value) for value in ("Priority", " flex", "FLEX\n", ["priority"], 3)),
        ({"const": "5"}, 5),
        ({"const": "true"}, True),
        ({"pattern": "^evil$"}, " evil "),
        ({"contains": {"const": "audio"}}, "Audio"),
        ({"items": {"properties": {"n": {"minimum": 2}}}}, {"n": "3"}),
        (
            {"properties": {"a": {"properties": {"b": TRUE}}}, "required": ["a"]},
            {"a": {"b": "yes"}},
        ),
        (
            {"contains": {"properties": {"type": {"const": "web"}}}},
            [{"type": "x"}, {"type": "Web"}],
        ),
        ({"anyOf": [TRUE, {"const": 7}]}, "7"),
    ],
)
def test_a_value_that_some_parser_takes_for_the_refused_one_is_refused(schema, value):
    assert refuses(schema, value)


@each(
    ("schema", "value"),
    [
        *((TRUE, value) for value in (False, 0, "false", "no", "", None, [], [False])),
        *((ABOVE, value) for value in (1, 4096, "4096", "4e3", True, [1])),
        ({"const": 5}, "50"),
        *((WORD, value) for value in ("default", "priority_", "", True, None)),
        ({"const": "2"}, 3),
        ({"contains": {"const": "audio"}}, "text"),
        ({"required": ["a"]}, {"b": 1}),
    ],
)
def test_another_value_is_not(schema, value):
    assert not refuses(schema, value)


@each("value", [{"a": "5", "b": [1, "2"]}, "x", 1, None, [1, 2]])
def test_a_schema_that_speaks_of_no_type_changes_nothing(value):
    assert LenientReading({}).read(value) == value


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
