"""Schemas side by side: nothing that is refused anew goes untold, and it all comes to an end."""

from copy import deepcopy

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.offline.diff.schema_comparison import Walk
from tests.support.documents import document, library
from tests.support.thorough import examples

NAMES = ("a", "b", "c")
plain = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("string")},
        optional={
            "minLength": st.integers(0, 2),
            "maxLength": st.integers(0, 2),
            "enum": st.lists(st.sampled_from(["", "x", "xy"]), min_size=1, unique=True),
            "pattern": st.sampled_from(["^x", "y$"]),
        },
    ),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["integer", "number", ["integer", "null"]])},
        optional={
            "minimum": st.integers(-1, 1),
            "maximum": st.integers(-1, 1),
            "multipleOf": st.integers(1, 2),
        },
    ),
    st.just({"type": "null"}),
    st.just({"type": "boolean"}),
    st.just({"const": "x"}),
)


def larger(below):
    properties = st.dictionaries(st.sampled_from(NAMES), below, max_size=2)
    return st.one_of(
        st.fixed_dictionaries(
            {"type": st.just("array")},
            optional={"items": below, "minItems": st.integers(0, 1), "uniqueItems": st.booleans()},
        ),
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": properties},
            optional={
                "required": st.lists(st.sampled_from(NAMES), unique=True, max_size=2),
                "additionalProperties": st.one_of(st.just(False), below),
                "minProperties": st.integers(0, 1),
            },
        ),
        st.fixed_dictionaries({"anyOf": st.lists(below, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"allOf": st.lists(below, min_size=1, max_size=2)}),
    )


schemas = st.recursive(plain, larger, max_leaves=4)
values = st.recursive(
    st.sampled_from([None, True, "", "x", "xy", -1, 0, 1, 0.5]),
    lambda below: st.one_of(
        st.lists(below, max_size=2), st.dictionaries(st.sampled_from(NAMES), below, max_size=2)
    ),
    max_leaves=4,
)


def node(schema, **more):
    result = library(document(components={"schemas": {"It": schema, **more}}))
    return result.document.get("components").get("schemas").get("It")


def changes(old, new, answers=False, weaker=False):
    walk = Walk(of_responses=answers)
    found = walk.compare((node(old),), (node(new),), "")
    return [(change.kind, change.message) for change in found if change.is_weaker == weaker]


def changed(old, seed):
    """The schema with something in it replaced, so that the two have much in common."""
    result = deepcopy(old)
    at = result
    while isinstance(at, dict):
        inner = [k for k in ("properties", "items", "anyOf", "allOf") if at.get(k)]
        if not inner or seed.draw(st.booleans()):
            break
        below = at[inner[0]]
        if inner[0] == "items":
            at = below
        else:
            at = (
                below[seed.draw(st.sampled_from(sorted(below)))]
                if isinstance(below, dict)
                else (below[0])
            )
    fresh = seed.draw(schemas)
    key = seed.draw(st.sampled_from(sorted(fresh)))
    at[key] = fresh[key]
    return result


@settings(max_examples=examples(80))
@given(schemas, st.data(), st.lists(values, min_size=5, max_size=20))
def test_a_new_refusal_is_reported(old, data, samples):
    new = changed(old, data)
    before, after = (jsonschema_rs.Draft202012Validator(schema) for schema in (old, new))
    newly_invalid = [v for v in samples if before.is_valid(v) and not after.is_valid(v)]
    # A property that could be anything and has a form now is no difference: documents grow by
    # such properties all the time, and nobody relies on what they did not know.
    if newly_invalid and not _properties(new) - _properties(old):
        assert changes(old, new), newly_invalid[0]


@settings(max_examples=examples(80))
@given(schemas, st.data(), st.lists(values, min_size=5, max_size=20))
def test_a_value_that_is_newly_accepted_is_reported(new, data, samples):
    old = changed(new, data)
    before, after = (jsonschema_rs.Draft202012Validator(schema) for schema in (old, new))
    newly_valid = [v for v in samples if after.is_valid(v) and not before.is_valid(v)]
    if newly_valid:
        assert changes(old, new, weaker=True), newly_valid[0]


OBJECT = {"type": "object"}
OF_NULL = {"type": "object", "properties": {"a": {"type": "null"}}}
OF_TEXT = {"properties": {"a": {"type": "string"}}}


@pytest.mark.parametrize(
    ("old", "branches", "is_told"),
    [
        ({"anyOf": [{"type": "string"}, OF_NULL]}, [{"type": "string"}, OF_NULL], True),
        ({"anyOf": [OBJECT, OBJECT]}, [OBJECT | OF_TEXT, OBJECT], True),
        ({"anyOf": [OBJECT, {"type": "string"}]}, [OBJECT | OF_TEXT, {"type": "string"}], False),
        ({"anyOf": [OBJECT, {"type": "string"}]}, [{"type": "null"}, {"type": "string"}], False),
    ],
)
def test_a_property_that_a_union_still_names_is_unchecked_unless_it_moved_there(
    old, branches, is_told
):
    kinds = [kind for kind, _ in changes(old | OF_TEXT, {"anyOf": branches}, weaker=True)]
    assert ("field-unchecked" in kinds) == is_told


def test_a_property_that_is_removed_is_held_against_the_additional_properties():
    old = {
        "type": "object",
        "properties": {"b": {"type": "integer"}},
        "additionalProperties": {"type": "string"},
    }
    assert changes(old, {**old, "properties": {}}) == [
        ("type-narrowed", "'It.b' must be string, no longer integer")
    ]
    assert (
        changes({**old, "properties": {"b": {"type": "string"}}}, {**old, "properties": {}}) == []
    )


def _properties(schema, at=()):
    """The places of all properties in a schema."""
    places = set()
    for index, below in enumerate(schema if isinstance(schema, list) else ()):
        places |= _properties(below, (*at, index))
    for key, below in schema.items() if isinstance(schema, dict) else ():
        if key == "properties":
            places |= {(*at, key, name) for name in below}
        places |= _properties(below, (*at, key))
    return places


@settings(max_examples=examples(20))
@given(schemas)
def test_a_schema_does_not_differ_from_itself(schema):
    assert changes(schema, schema) == []
    assert changes(schema, schema, answers=True) == []
    assert changes(schema, schema, weaker=True) == []


def test_a_recursive_schema_terminates():
    deep = {"type": "object", "properties": {"in": {"$ref": "#/components/schemas/It"}}}
    narrower = {**deep, "required": ["in"]}
    assert changes(deep, narrower) == [("field-required", "'It.in' is required now")]


def test_a_recursive_all_of_terminates():
    odd = {"allOf": [{"$ref": "#/components/schemas/It"}], "type": "object"}
    assert changes(odd, {**odd, "required": ["x"]}) != []


@pytest.mark.parametrize("key", ["anyOf", "oneOf"])
def test_branches_in_another_order_are_no_difference(key):
    first, second = {"type": "string"}, {"type": "object", "properties": {"t": {"const": "x"}}}
    assert changes({key: [first, second]}, {key: [second, first]}) == []


def test_three_dozen_levels_are_compared():
    old = new = {"type": "string"}
    new = {**new, "maxLength": 3}
    for _ in range(36):
        old = {"type": "array", "items": old}
        new = {"type": "array", "items": new}
    assert [kind for kind, _ in changes(old, new)] == ["bound-narrowed"]
