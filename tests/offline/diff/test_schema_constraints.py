"""The constraints that only the stricter of two schemas has."""

import pytest

from engine.offline.diff.flat_schema import shape_of
from engine.offline.diff.schema_constraints import Fact, constraints
from tests.support.documents import document, library


def shape(schema):
    text = document(components={"schemas": {"It": schema}})
    return shape_of((library(text).document.get("components").get("schemas").step("It"),))


def facts(loose, strict):
    found = constraints(shape(loose), shape(strict))
    return [(constraint.fact, constraint.name) for constraint in found]


@pytest.mark.parametrize(
    ("loose", "strict", "fact"),
    [
        ({}, {"required": ["a"]}, (Fact.REQUIRED, "a")),
        ({"type": "object"}, {"type": "object", "additionalProperties": False}, (Fact.CLOSED, "")),
        ({"type": ["string", "null"]}, {"type": "string"}, (Fact.TYPE, "")),
        ({}, {"type": "string"}, (Fact.TYPE, "")),
        ({"type": "string"}, {"type": "string", "enum": ["a"]}, (Fact.ENUM, "")),
        ({"enum": ["a", "b"]}, {"enum": ["a"]}, (Fact.VALUE, "")),
        ({"maxLength": 5}, {"maxLength": 3}, (Fact.BOUND, "maxLength")),
        ({"minimum": 5}, {"exclusiveMinimum": 5}, (Fact.BOUND, "minimum")),
        ({}, {"pattern": "^a"}, (Fact.PATTERN, "pattern")),
        ({}, {"uniqueItems": True}, (Fact.KEYWORD, "uniqueItems")),
        ({"multipleOf": 2}, {"multipleOf": 4}, None),
        ({"multipleOf": 4}, {"multipleOf": 2}, None),
        ({"multipleOf": 0.1}, {"multipleOf": 0.3}, None),
    ],
)
def test_what_is_stricter_is_found_and_the_opposite_is_not(loose, strict, fact):
    if fact is None:
        factor = strict["multipleOf"] / loose["multipleOf"]
        expected = [(Fact.KEYWORD, "multipleOf")] if factor > 1 else []
        assert facts(loose, strict) == expected
        return
    assert facts(loose, strict) == [fact]
    assert facts(strict, loose) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"enum": [1, "a"]}, {"enum": ["a", 1.0]}),
        ({"const": "a"}, {"enum": ["a"]}),
        (
            {"type": ["array", "boolean", "integer", "null", "number", "object", "string"]},
            {},
        ),
        ({"type": "integer", "minimum": 1}, {"type": "integer", "exclusiveMinimum": 0}),
        ({"type": "string", "pattern": ".*"}, {"type": "string"}),
        ({"if": {"required": ["a"]}}, {}),
        (
            {"not": {"required": ["a"], "description": "x"}},
            {"not": {"required": ["a"], "description": "y"}},
        ),
    ],
)
def test_schemas_of_one_meaning_have_no_constraint_alone(one, other):
    assert facts(one, other) == facts(other, one) == []


def test_a_closed_schema_refuses_properties_that_it_does_not_name():
    closed = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}
    both = {**closed, "properties": {"a": {}, "b": {}}}
    assert facts(both, closed) == [(Fact.MEMBER, "b")]
    assert facts({**both, "patternProperties": {"^b": {}}}, both) == []
