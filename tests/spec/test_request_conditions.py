"""Conditions: what is wrong in one, and what its values are."""

import pytest

from engine.spec.request_conditions import compile_condition
from tests.support.each import each


@each(
    ("place", "name", "value", "words"),
    [
        ("body", "n", {"minimun": 2}, "'body.n' has the unknown keyword 'minimun'"),
        ("body", "n", {"minimun": 2}, "did you mean 'minimum'?"),
        ("body", "n", {"not": {"enun": []}}, "'body.n.not' has the unknown keyword 'enun'"),
        (
            "body",
            "n",
            {"anyOf": [{}, {"enun": []}]},
            "'body.n.anyOf[1]' has the unknown",
        ),
        (
            "body",
            "n",
            {"properties": {"a": {"x": 1}}},
            "'body.n.properties.a' has the unknown",
        ),
        ("body", "n", {"type": "numbr"}, "'body.n' is not a JSON Schema"),
        ("body", "n", {"maximum": float("inf")}, "'body.n' is not a JSON Schema"),
        ("body", "n", {"$ref": "#/x"}, "'body.n' has the unknown keyword '$ref'"),
        ("header", "x tier", "a", "$request.header"),
    ],
)
def test_an_invalid_condition_raises_value_error(place, name, value, words):
    with pytest.raises(ValueError) as excinfo:
        compile_condition(place, name, value, required=False)
    assert words in f"{excinfo.value}; {getattr(excinfo.value, 'hint', '')}"


@each(
    ("value", "accepted", "refused"),
    [
        ("a", ["a"], ["b", ["a"], None]),
        (True, [True], [False, 1, "true"]),
        (None, [None], [0, ""]),
        ([1, "a", None], [1, 1.0, "a", None], ["1", 2]),
        ({}, [None, 1, {}], []),
        ({"enum": ["a"]}, ["a"], ["b"]),
    ],
)
def test_a_scalar_allows_itself_and_a_list_its_items(value, accepted, refused):
    validator = compile_condition("body", "n", value, required=False).validator
    assert [v for v in accepted if not validator.is_valid(v)] == []
    assert [v for v in refused if validator.is_valid(v)] == []


@each(
    ("schema", "refused"),
    [
        ({"maximum": 1}, ["9", None, True, [], {}]),
        ({"maxLength": 1}, [9, []]),
        ({"maxItems": 1}, ["aa", 9]),
        ({"properties": {}}, ["aa", 9]),
    ],
)
def test_a_required_condition_accepts_only_the_types_of_its_keywords(schema, refused):
    lenient = compile_condition("body", "n", schema, required=False).validator
    strict = compile_condition("body", "n", schema, required=True).validator
    assert all(lenient.is_valid(value) for value in refused)
    assert not any(strict.is_valid(value) for value in refused)


@each(
    ("name", "steps"),
    [
        ("n", ("n",)),
        ("a/b", ("a/b",)),
        ("a~b", ("a~b",)),
        ("/a/0/b", ("a", "0", "b")),
        ("/a~1b", ("a/b",)),
        ("/schema", ("schema",)),
    ],
)
def test_a_member_is_a_name_or_a_pointer(name, steps):
    condition = compile_condition("body", name, 1, required=False)
    assert condition.expression.steps == steps


def test_the_whole_body_has_no_place_of_its_own():
    assert compile_condition("body", "schema", {}, required=False).expression is None
