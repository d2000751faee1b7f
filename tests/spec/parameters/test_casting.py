"""Text cast by schemas."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.spec.parameters.casting import compile_cast, compile_shape
from engine.values.errors import Malformed
from tests.support.each import each
from tests.support.schemas import repeated, resolve

STRING, INTEGER, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
BOOLEAN, NULL = {"type": "boolean"}, {"type": "null"}


@each(
    ("schema", "text", "value"),
    [
        (INTEGER, "5", 5),
        (INTEGER, "-3", -3),
        (INTEGER, "0", 0),
        (INTEGER, "-0", "-0"),
        (INTEGER, "05", "05"),
        (INTEGER, "+5", "+5"),
        (INTEGER, "5.0", 5),
        (INTEGER, " 5", " 5"),
        (INTEGER, "5\n", "5\n"),
        (INTEGER, "1_000", "1_000"),
        (INTEGER, "٥", "٥"),
        (INTEGER, "", ""),
        (INTEGER, "9" * 5000, "9" * 5000),
        (INTEGER, "-10.00", -10),
        (INTEGER, "1.01", "1.01"),
        (NUMBER, "5", 5),
        (NUMBER, "5.0", 5.0),
        (NUMBER, "-1.5e-3", -0.0015),
        (NUMBER, "nan", "nan"),
        (NUMBER, "inf", "inf"),
        (NUMBER, "1e999", "1e999"),
        (NUMBER, ".5", ".5"),
        (NUMBER, "5.", "5."),
        (BOOLEAN, "true", True),
        (BOOLEAN, "false", False),
        (BOOLEAN, "True", True),
        (BOOLEAN, "FALSE", False),
        (BOOLEAN, "1", True),
        (BOOLEAN, "0", False),
        (BOOLEAN, "tRUE", "tRUE"),
        (BOOLEAN, "yes", "yes"),
        (BOOLEAN, "", ""),
        ({"type": ["boolean", "integer"]}, "1", 1),
        ({"type": ["boolean", "integer"]}, "True", True),
        ({"type": ["boolean", "string"]}, "True", "True"),
        ({"type": ["boolean", "string"]}, "0", "0"),
        (STRING, "5", "5"),
        (STRING, "null", "null"),
        ({}, "5", "5"),
        (True, "true", "true"),
        (False, "5", "5"),
        ({"minimum": 3}, "5", "5"),
        ({"type": ["integer", "null"]}, "null", None),
        ({"type": ["integer", "null"]}, "", None),
        ({"type": "integer", "nullable": True}, "", None),
        ({"type": ["string", "null"]}, "null", "null"),
        ({"type": ["string", "null"]}, "", ""),
        ({"type": "string", "nullable": True}, "", ""),
        ({"type": ["string", "integer"]}, "5", 5),
        ({"type": ["string", "integer"]}, "x", "x"),
        ({"anyOf": [STRING, INTEGER]}, "5", 5),
        ({"oneOf": [BOOLEAN, NULL]}, "null", None),
        ({"anyOf": [INTEGER, {}]}, "5", "5"),
        ({"allOf": [INTEGER, {"minimum": 3}]}, "5", 5),
        ({"allOf": [{"type": ["string", "integer"]}, STRING]}, "5", "5"),
        ({"type": "array"}, "5", "5"),
        ({"enum": [1, 2]}, "1", 1),
        ({"enum": ["1", "2"]}, "1", "1"),
        ({"type": ["string", "integer"], "enum": ["1"]}, "1", "1"),
        ({"const": True}, "true", True),
        ({"const": 1.5}, "1.5", 1.5),
        ({"$ref": "Count"}, "5", 5),
        ({"$ref": "Count", "nullable": True}, "", None),
        ({"$ref": "Either"}, "5", 5),
        ({"$ref": "Loop"}, "5", "5"),
        ({"$ref": "Wide"}, "5", "5"),
    ],
)
def test_cast(schema, text, value):
    cast = compile_cast(schema, resolve)(text)
    assert (cast, type(cast)) == (value, type(value))


@each(
    ("schema", "tree", "value"),
    [
        (INTEGER, ["5"], 5),
        (INTEGER, ["5", "6"], [5, 6]),
        ({"type": "array", "items": INTEGER}, ["5"], [5]),
        ({"type": "array", "items": INTEGER}, [""], []),
        ({"type": "array", "items": INTEGER}, {"": ["1", "2"]}, [1, 2]),
        ({"type": "array", "items": INTEGER}, {"10": ["3"], "2": ["1"]}, [1, 3]),
        ({"type": "array", "items": INTEGER}, {"x": ["3"]}, {"x": "3"}),
        ({"$ref": "Tree"}, {"size": ["1"], "other": ["2"]}, {"size": 1, "other": "2"}),
        (
            {"$ref": "Tree"},
            {"children": {"0": {"children": {"0": {"size": ["7"]}}}}},
            {"children": [{"children": [{"size": 7}]}]},
        ),
        ({"additionalProperties": INTEGER}, {"1000": ["5"]}, {"1000": 5}),
        ({}, {"0": ["5"]}, ["5"]),
        ({}, {"a": {"b": ["5"]}}, {"a": {"b": "5"}}),
    ],
)
def test_shape(schema, tree, value):
    assert compile_shape(schema, resolve)(tree) == value


def test_shape_refuses_a_large_index():
    with pytest.raises(Malformed, match="1000"):
        compile_shape({"type": "array"}, resolve)({"1000": ["x"]})


def test_shape_ends_when_resolve_gives_fresh_copies():
    def copying(schema):
        return {"type": "object", "properties": {"a": {"$ref": "x"}, "b": {"$ref": "x"}}}

    assert compile_shape({"$ref": "x"}, copying)({"a": {"b": ["1"]}}) == {"a": {"b": "1"}}


@given(st.integers())
def test_every_integer_round_trips(value):
    assert compile_cast(INTEGER, resolve)(str(value)) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_round_trips(value):
    assert compile_cast(NUMBER, resolve)(repr(value)) == value


@given(st.text(), st.sampled_from([INTEGER, NUMBER, BOOLEAN, NULL, {"enum": [1, None]}]))
def test_any_text_is_cast_or_left(text, schema):
    cast = compile_cast(schema, resolve)(text)
    assert cast == text or not isinstance(cast, str)


@each("word", ["allOf", "anyOf", "oneOf"])
def test_a_shape_of_schemas_that_repeat_each_other_is_compiled(word):
    assert compile_shape(repeated(word), lambda schema: schema)({"size": ["7"]}) == {"size": 7}
