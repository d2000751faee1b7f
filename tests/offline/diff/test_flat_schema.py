"""A schema as one flat view: references followed, `allOf` joined."""

import pytest

from engine.offline.diff.compared_keywords import Bound
from engine.offline.diff.flat_schema import shape_of
from tests.support.documents import document, library


def shape(schema, **schemas):
    """The view of a schema; `schemas` are those that it can refer to."""
    text = document(components={"schemas": {"subject": schema, **schemas}})
    return shape_of((library(text).document.get("components").get("schemas").step("subject"),))


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
        (False, set()),
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
    assert (view.types, view.bounds) == ({"string"}, {"maxLength": Bound(5)})


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
    assert shape({key: 2, "allOf": [{key: 5}]}).bounds == {key: Bound(bound)}


@pytest.mark.parametrize(
    ("schema", "bounds"),
    [
        ({"exclusiveMinimum": 2, "minimum": 1}, {"minimum": Bound(2, exclusive=True)}),
        ({"minimum": 2, "exclusiveMinimum": True}, {"minimum": Bound(2, exclusive=True)}),
        ({"type": "integer", "exclusiveMaximum": 2}, {"maximum": Bound(1)}),
        ({"type": "integer", "minimum": 0.5}, {"minimum": Bound(1)}),
        (
            {"type": "integer", "format": "int32", "minimum": 1},
            {"minimum": Bound(1), "maximum": Bound(2**31 - 1)},
        ),
        ({"type": "string", "minimum": 2, "minItems": 1}, {}),
        ({"minLength": 0, "minItems": 0}, {}),
        ({"contains": {"type": "string"}}, {"minContains": Bound(1)}),
        ({"maxContains": 2}, {}),
    ],
)
def test_bounds_are_those_that_have_an_effect(schema, bounds):
    assert shape(schema).bounds == bounds


def test_keywords_beside_a_reference_count():
    view = shape({"$ref": "#/components/schemas/Name", "maxLength": 2}, Name={"type": "string"})
    assert (view.types, view.bounds) == ({"string"}, {"maxLength": Bound(2)})


def test_one_schema_or_null_is_that_schema():
    either = {"anyOf": [{"type": "string", "maxLength": 2, "enum": ["a"]}, {"type": "null"}]}
    view = shape(either)
    assert (view.types, view.enum) == ({"string", "null"}, ["a", None])
    assert (view.unions, view.bounds) == ([], {"maxLength": Bound(2)})


def test_a_part_that_two_branches_describe_has_both_schemas():
    view = shape(
        {"properties": {"a": {"type": "string"}}, "allOf": [{"properties": {"a": {"const": 1}}}]}
    )
    assert [node.value for node in view.properties["a"]] == [{"type": "string"}, {"const": 1}]


def test_a_schema_that_contains_itself_comes_to_an_end():
    view = shape(
        {"$ref": "#/components/schemas/Tree"},
        Tree={"type": "object", "allOf": [{"$ref": "#/components/schemas/Tree"}]},
    )
    assert view.types == {"object"}


@pytest.mark.parametrize("schema", [True, None, "text", {"type": 5, "required": 5}])
def test_a_value_that_is_no_schema_has_no_limits(schema):
    assert shape(schema).types is None
