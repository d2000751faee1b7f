"""The words of a refusal: which error is spoken of, where it stands, and how it reads."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
from hypothesis import given
from hypothesis import strategies as st

from engine.spec.schemas.refusal_messages import Refusal, explain, place
from tests.support.documents import validator
from tests.support.each import each
from tests.support.refusals import INTEGER, STRING, field, refusal_of

VECTOR = {"type": "object", "properties": {"n": INTEGER, "d": STRING}, "required": ["n", "d"]}


def test_a_missing_member_is_named_with_its_path() -> None:
    schema = {"properties": {"a": {"items": {"required": ["b"]}}}}
    refusal = refusal_of(schema, {"a": [{"b": 1}, {}]})
    assert refusal == Refusal(
        "a[1].b", "missing_required_parameter", "Missing required parameter: 'a[1].b'."
    )


def test_an_unknown_member_is_named() -> None:
    schema = {"properties": {"a": {}}, "additionalProperties": False}
    refusal = refusal_of(schema, {"a": 1, "b": 2, "c": 3})
    assert refusal == Refusal("b", "unknown_parameter", "Unknown parameter: 'b'.")


def test_a_name_that_is_refused_is_the_place() -> None:
    refusal = field({"propertyNames": {"pattern": "^[a-z]+$"}}, {"a": 1, "B": 2})
    assert (refusal.param, refusal.code) == ("x.B", "invalid_value")
    assert refusal.message == (
        "Invalid value for the name 'x.B': expected a match of ^[a-z]+$, got the string 'B'."
    )


def test_an_unevaluated_member_is_named() -> None:
    schema = {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False}
    assert refusal_of(schema, {"a": 1, "b": 2})[:2] == ("b", "unknown_parameter")


# Places.


@each(
    ("path", "root", "message"),
    [
        ([], "", ""),
        (["model"], "", "model"),
        (["messages", 0, "role"], "", "messages[0].role"),
        ([0, 1], "", "[0][1]"),
        ([0, "a"], "", "[0].a"),
        ([], "limit", "limit"),
        ([0, "a"], "filter", "filter[0].a"),
        (["a"], "filter", "filter.a"),
    ],
)
def test_a_place_reads_as_in_code(path: list[Any], root: str, message: str) -> None:
    assert place(path, root) == message


def test_a_refusal_of_the_entire_body_has_no_param() -> None:
    assert refusal_of({"type": "object"}, []) == Refusal(
        "",
        "invalid_type",
        "Invalid type for the request body: expected an object, got an empty array.",
    )


def test_a_root_names_the_entire_value() -> None:
    refusal = refusal_of(INTEGER, "x", "limit")
    assert refusal.param == "limit"
    assert refusal.message.startswith("Invalid type for 'limit': ")


def test_a_key_of_digits_is_a_key_and_no_index() -> None:
    schema = {"properties": {"logit_bias": {"additionalProperties": {"type": "number"}}}}
    assert refusal_of(schema, {"logit_bias": {"50": "x"}}).param == "logit_bias.50"


def test_a_missing_key_of_digits_is_a_key_and_no_index() -> None:
    assert refusal_of({"required": ["1"]}, {}).param == "1"


@given(st.text(min_size=1, max_size=5))
def test_any_key_is_placed_as_it_is_written(key: str) -> None:
    refusal = refusal_of(
        {"additionalProperties": {"additionalProperties": STRING}}, {"a": {key: 1}}
    )
    assert refusal.param == f"a.{key}"


# Which error is spoken of.


@each(
    ("schema", "value", "param"),
    [
        # Of several, the one nearest to the top.
        (
            {"properties": {"a": {"properties": {"b": STRING}}, "z": STRING}},
            {"a": {"b": 1}, "z": 1},
            "z",
        ),
        # A plain error before a union's.
        ({"properties": {"a": {"anyOf": [STRING, INTEGER]}, "b": STRING}}, {"a": [], "b": 1}, "b"),
        # A plain error before an exclusion.
        ({"not": {"required": ["a"]}, "properties": {"a": STRING}}, {"a": 1}, "a"),
        # In a union, the branch that takes this kind of value.
        ({"anyOf": [STRING, {"type": "array", "items": STRING}]}, ["a", 1], "[1]"),
        ({"anyOf": [{"not": True}, {"type": "array", "items": STRING}]}, ["a", 1], "[1]"),
        ({"oneOf": [{"type": "array", "items": STRING}, STRING]}, ["a", 1], "[1]"),
        # The branch that its tag chooses.
        (
            {
                "properties": {
                    "x": {
                        "anyOf": [
                            {"properties": {"type": {"const": "a"}, "n": INTEGER}},
                            {"properties": {"type": {"const": "b"}, "n": STRING}},
                        ]
                    }
                }
            },
            {"x": {"type": "b", "n": 5}},
            "x.n",
        ),
        # The branch with the members, not a map of others.
        ({"anyOf": [VECTOR, {"type": "object", "additionalProperties": VECTOR}]}, {"n": 1}, "d"),
        (
            {"anyOf": [VECTOR, {"type": "object", "additionalProperties": VECTOR}]},
            {"a": {"n": 1}},
            "a.d",
        ),
        # A union within a union.
        (
            {"anyOf": [STRING, {"items": {"anyOf": [STRING, {"required": ["a"]}]}}]},
            [{"b": 1}],
            "[0].a",
        ),
        # What a condition asks for.
        (
            {
                "if": {"properties": {"t": {"const": "text"}}, "required": ["t"]},
                "then": {"required": ["text"]},
            },
            {"t": "text"},
            "text",
        ),
    ],
)
def test_the_telling_error_is_chosen(schema: Any, value: Any, param: str) -> None:
    assert refusal_of(schema, value).param == param


def test_a_union_without_types_is_refused_itself() -> None:
    refusal = field({"oneOf": [{"minimum": 1}, {"multipleOf": 1}]}, 5)
    assert refusal.param == "x"
    assert refusal.message == (
        "Invalid value for 'x': it matches none of the schemas allowed here."
    ) or refusal.message.startswith("Invalid value for 'x'")


def test_a_value_that_matches_two_branches_of_one_of_is_refused_as_such() -> None:
    refusal = field({"oneOf": [INTEGER, {"minimum": 1}]}, 5)
    assert refusal.param == "x"
    assert "none" not in refusal.message


# Near misses.


# A message stays short, and never says the whole body again.


def test_a_body_with_a_hundred_thousand_mistakes_is_explained_by_its_first() -> None:
    refusal = refusal_of({"items": STRING}, [1] * 100_000)
    assert refusal.param == "[0]"


# Whatever is refused is explained.

schemas = st.recursive(
    st.sampled_from(
        [
            STRING,
            INTEGER,
            {"type": ["string", "null"]},
            {"const": "a"},
            {"enum": [1, "a"]},
            {"minimum": 3},
            {"maxLength": 1},
            {"required": ["a"]},
            {"additionalProperties": False},
            False,
        ]
    ),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"properties": st.fixed_dictionaries({"a": inner, "b": inner})}),
        st.fixed_dictionaries({"items": inner}),
        st.fixed_dictionaries({"not": inner}),
        *(
            st.fixed_dictionaries({word: st.lists(inner, min_size=1, max_size=3)})
            for word in ("allOf", "anyOf", "oneOf")
        ),
    ),
    max_leaves=6,
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["a", "bb", ""]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2)
    ),
    max_leaves=5,
)


@given(schemas, values)
def test_every_refusal_has_a_place_in_the_value_and_words(schema: Any, value: Any) -> None:
    compiled = validator(schema)
    if compiled.is_valid(value):
        return
    refusal = explain(compiled, value)
    assert refusal.code
    assert refusal.message.endswith((".", "?"))
    at = value
    for step in refusal.param.replace("]", "").replace(".", "[").split("[") if at else ():
        if isinstance(at, list) and step:
            at = at[int(step)]
        elif isinstance(at, dict) and step in at:
            at = at[step]
        elif step:
            assert refusal.code == "missing_required_parameter"


def test_only_the_beginning_of_a_huge_value_is_explained() -> None:
    schema = {"items": {"anyOf": [{"type": "string"}, {"type": "array"}]}}
    assert refusal_of(schema, [1] * 5000).param == "[0]"
    late = [*["x"] * 5000, 1]
    assert refusal_of(schema, late).param == "[5000]"


def test_a_name_of_more_digits_than_python_reads_is_no_other_number() -> None:
    validator = jsonschema_rs.Draft202012Validator({"additionalProperties": {"type": "string"}})
    assert explain(validator, {"01": 1, "9" * 5000: "x"}).param == "01"


def test_a_member_named_by_digits_is_refused_at_its_place():
    """The validator tells of "01" as 1, which the body does not have."""
    validator = jsonschema_rs.Draft202012Validator({"additionalProperties": {"type": "string"}})
    assert explain(validator, {"01": 5}, "").param == "01"


def test_a_text_that_takes_too_long_to_be_compared_is_named() -> None:
    validator = jsonschema_rs.Draft202012Validator({"pattern": r"^(a|a)*\1?$"})
    refusal = explain(validator, "a" * 30 + "b", "x")
    assert (refusal.param, refusal.code) == ("x", "invalid_value")
    assert "'x': its pattern takes too long to compare, got the string 'aaa" in refusal.message
