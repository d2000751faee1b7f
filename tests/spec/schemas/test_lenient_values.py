"""What lenient parsers take a value for."""

import jsonschema_rs

from engine.spec.schemas.lenient_values import LenientReading
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
