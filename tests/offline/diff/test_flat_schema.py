"""A schema as one flat view: references followed, `allOf` joined."""

import pytest

from engine.offline.diff.flat_schema import shape_of
from tests.support.documents import document, library


def shape(schema, **schemas):
    """The view of a schema; `schemas` are those that it can refer to."""
    text = document(components={"schemas": {"subject": schema, **schemas}})
    return shape_of(library(text).document.get("components").get("schemas").step("subject"))


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({}, None),
        ({"type": "string"}, {"string"}),
        ({"type": "number"}, {"number", "integer"}),
        ({"type": ["string", "null"]}, {"string", "null"}),
        ({"type": "string", "nullable": True}, {"string", "null"}),
        ({"enum": ["a", 1]}, {"string", "integer", "number"}),
        ({"type": ["string", "integer"], "enum": ["a"]}, {"string"}),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, {"string", "null"}),
        ({"anyOf": [{"type": "string"}, {}]}, None),
        ({"allOf": [{"type": ["string", "null"]}, {"type": "string"}]}, {"string"}),
    ],
)
def test_types_are_those_that_type_values_and_unions_allow_together(schema, types):
    assert shape(schema).types == types


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ({"type": "string"}, None),
        ({"const": "a"}, ["a"]),
        ({"enum": ["a", "b"]}, ["a", "b"]),
        ({"enum": ["a", "b"], "const": "b"}, ["b"]),
        ({"allOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}]}, ["b"]),
    ],
)
def test_values_are_those_that_every_keyword_leaves(schema, values):
    assert shape(schema).enum == values


def test_a_reference_is_followed():
    view = shape({"$ref": "#/components/schemas/Name"}, Name={"type": "string", "maxLength": 5})
    assert (view.types, view.bounds) == ({"string"}, {"maxLength": 5})


def test_branches_of_all_of_are_joined():
    view = shape(
        {
            "required": ["a"],
            "properties": {"a": {"type": "string"}},
            "allOf": [
                {"required": ["b"], "properties": {"b": {}}},
                {"additionalProperties": False},
            ],
        }
    )
    assert view.required == {"a", "b"}
    assert set(view.properties) == {"a", "b"}
    assert view.closed


@pytest.mark.parametrize(("key", "bound"), [("minLength", 5), ("maxLength", 2)])
def test_the_narrower_of_two_bounds_remains(key, bound):
    assert shape({key: 2, "allOf": [{key: 5}]}).bounds == {key: bound}


def test_a_part_that_two_branches_describe_differently_is_not_analysed():
    view = shape(
        {"properties": {"a": {"type": "string"}}, "allOf": [{"properties": {"a": {"const": 1}}}]}
    )
    assert view.unanalysed == {"'a' (allOf)": [{"const": 1}]}


def test_a_schema_that_contains_itself_comes_to_an_end():
    view = shape(
        {"$ref": "#/components/schemas/Tree"},
        Tree={"type": "object", "allOf": [{"$ref": "#/components/schemas/Tree"}]},
    )
    assert view.types == {"object"}


@pytest.mark.parametrize("schema", [True, False, None, "text", {"type": 5, "required": 5}])
def test_a_value_that_is_no_schema_has_no_limits(schema):
    assert shape(schema).types is None
