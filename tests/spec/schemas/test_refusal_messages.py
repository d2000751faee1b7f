"""The words of a refusal: which error is spoken of, where it stands, and how it reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema_rs
from hypothesis import given
from hypothesis import strategies as st

from engine.spec.document.schema_keywords import SOURCE_PATTERN
from engine.spec.schemas.refusal_messages import Refusal, explain, place
from tests.support.documents import document, read, validator
from tests.support.each import each

STRING, INTEGER = {"type": "string"}, {"type": "integer"}
VECTOR = {"type": "object", "properties": {"n": INTEGER, "d": STRING}, "required": ["n", "d"]}


def refusal_of(schema: Any, value: Any, root: str = "", version: str = "3.1.0") -> Refusal:
    compiled = validator(schema, version=version)
    assert not compiled.is_valid(value)
    return explain(compiled, value, root)


def field(schema: Any, value: Any, version: str = "3.1.0") -> Refusal:
    """The refusal of a field `x`."""
    return refusal_of({"properties": {"x": schema}}, {"x": value}, version=version)


@each(
    ("schema", "value", "code", "message"),
    [
        (STRING, 5, "invalid_type", "Invalid type for 'x': expected a string, got 5."),
        (STRING, None, "invalid_type", "Invalid type for 'x': expected a string, got null."),
        (STRING, True, "invalid_type", "Invalid type for 'x': expected a string, got true."),
        (STRING, 1.5, "invalid_type", "Invalid type for 'x': expected a string, got 1.5."),
        (
            STRING,
            [],
            "invalid_type",
            "Invalid type for 'x': expected a string, got an empty array.",
        ),
        (
            STRING,
            [1, 2],
            "invalid_type",
            "Invalid type for 'x': expected a string, got an array of 2 items.",
        ),
        (
            STRING,
            {"secret": 1},
            "invalid_type",
            "Invalid type for 'x': expected a string, got an object.",
        ),
        (
            INTEGER,
            "hot",
            "invalid_type",
            "Invalid type for 'x': expected an integer, got the string 'hot'.",
        ),
        (
            {"enum": [""]},
            "hot",
            "invalid_value",
            "Invalid value for 'x': expected one of '', got the string 'hot'.",
        ),
        (
            INTEGER,
            "",
            "invalid_type",
            "Invalid type for 'x': expected an integer, got an empty string.",
        ),
        (
            {"type": "boolean"},
            "yes",
            "invalid_type",
            "Invalid type for 'x': expected true or false, got the string 'yes'.",
        ),
        (
            {"type": "array"},
            5,
            "invalid_type",
            "Invalid type for 'x': expected an array, got 5.",
        ),
        (
            {"type": "number"},
            {},
            "invalid_type",
            "Invalid type for 'x': expected a number, got an object.",
        ),
        (
            {"enum": ["a", "b"]},
            "c",
            "invalid_value",
            "Invalid value for 'x': expected one of a, b, got the string 'c'.",
        ),
        ({"const": "a"}, "b", "invalid_value", "Invalid value for 'x': expected 'a'."),
        ({"const": None}, 1, "invalid_value", "Invalid value for 'x': expected null."),
        (
            {"enum": ["a", None, True, {"b": 1}]},
            "c",
            "invalid_value",
            "Invalid value for 'x': expected one of a, null, true, {\"b\": 1}, got the string 'c'.",
        ),
        (
            {"minLength": 2},
            "a",
            "string_below_min_length",
            "Invalid value for 'x': expected at least 2 characters, got the string 'a'.",
        ),
        (
            {"maxLength": 2},
            "abc",
            "string_above_max_length",
            "Invalid value for 'x': expected at most 2 characters, got the string 'abc'.",
        ),
        (
            {"minItems": 2},
            [1],
            "array_below_min_length",
            "Invalid value for 'x': expected at least 2 items, got an array of 1 item.",
        ),
        (
            {"maxItems": 1},
            [1, 2],
            "array_above_max_length",
            "Invalid value for 'x': expected at most 1 item, got an array of 2 items.",
        ),
        (
            {"minProperties": 2},
            {},
            "invalid_value",
            "Invalid value for 'x': expected at least 2 fields, got an object.",
        ),
        (
            {"maxProperties": 0},
            {"a": 1},
            "invalid_value",
            "Invalid value for 'x': expected at most 0 fields, got an object.",
        ),
        (
            {"minimum": 1},
            0,
            "below_min_value",
            "Invalid value for 'x': expected 1 or more, got 0.",
        ),
        (
            {"maximum": 2},
            3,
            "above_max_value",
            "Invalid value for 'x': expected 2 or less, got 3.",
        ),
        (
            {"exclusiveMinimum": 1},
            1,
            "below_min_value",
            "Invalid value for 'x': expected more than 1, got 1.",
        ),
        (
            {"exclusiveMaximum": 2},
            2,
            "above_max_value",
            "Invalid value for 'x': expected less than 2, got 2.",
        ),
        (
            {"uniqueItems": True},
            [1, 1],
            "invalid_value",
            "Invalid value for 'x': expected items that differ from each other, "
            "got an array of 2 items.",
        ),
        (
            {"pattern": "^a"},
            "b",
            "invalid_value",
            "Invalid value for 'x': expected a match of ^a, got the string 'b'.",
        ),
        (
            {"format": "date"},
            "x",
            "invalid_value",
            "Invalid value for 'x': expected the format date, got the string 'x'.",
        ),
        (
            {"multipleOf": 5},
            7,
            "invalid_value",
            "Invalid value for 'x': expected a multiple of 5, got 7.",
        ),
        (False, 1, "unknown_parameter", "Unknown parameter: 'x'."),
    ],
)
def test_each_keyword_has_a_message(schema: Any, value: Any, code: str, message: str) -> None:
    assert field(schema, value) == Refusal("x", code, message)


@each("schema", [{"contains": STRING}, {"propertyNames": {"maxLength": 1}}])
def test_a_keyword_without_a_message_is_refused(schema: Any) -> None:
    refusal = field(schema, [1] if "contains" in schema else {"long": 1})
    assert refusal.code
    assert refusal.message.startswith("Invalid value for 'x")


@each("version", ["3.0.3", "3.1.0"])
def test_an_exclusive_bound_reads_the_same_in_both_versions(version: str) -> None:
    bound = {"exclusiveMinimum": 1} if version == "3.1.0" else {}
    schema = bound or {"minimum": 1, "exclusiveMinimum": True}
    assert (
        field(schema, 1, version).message == "Invalid value for 'x': expected more than 1, got 1."
    )


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


def test_a_union_that_takes_other_kinds_of_value_names_them_all() -> None:
    refusal = field({"anyOf": [STRING, {"type": "array", "items": STRING}]}, 5)
    assert refusal.message == "Invalid type for 'x': expected a string or an array, got 5."


def test_a_union_of_the_wrong_kind_is_a_wrong_type() -> None:
    assert field({"anyOf": [STRING, {"type": "array"}]}, 5).code == "invalid_type"


def test_a_nullable_type_ends_with_null() -> None:
    refusal = field({"type": ["string", "null"]}, 5)
    assert refusal.message == "Invalid type for 'x': expected a string or null, got 5."


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


def test_an_enumeration_suggests_a_similar_name() -> None:
    refusal = field({"enum": ["auto", "required"]}, "requird")
    assert refusal.message.endswith("Did you mean 'required'?")


def test_a_missing_name_points_to_the_misspelt_one() -> None:
    refusal = refusal_of({"required": ["messages"]}, {"mesages": []})
    assert refusal.param == "messages"
    assert "'mesages'" in refusal.message


def test_a_missing_name_does_not_point_to_another_one_that_is_right() -> None:
    schema = {
        "properties": {"display_width_px": INTEGER, "display_height_px": INTEGER},
        "required": ["display_width_px", "display_height_px"],
    }
    assert "display_width_px" not in refusal_of(schema, {"display_width_px": 5}).message


def test_a_name_that_is_like_no_other_is_only_missing() -> None:
    refusal = refusal_of({"required": ["messages"]}, {"model": "m"})
    assert refusal.message == "Missing required parameter: 'messages'."


# A message stays short, and never says the whole body again.

LONG = "secret " * 1000


@each(
    ("schema", "value"),
    [
        ({"type": "integer"}, LONG),
        ({"type": "integer"}, {"a": LONG}),
        ({"type": "integer"}, [LONG] * 10),
        ({"maxLength": 5}, LONG),
        ({"pattern": "^x"}, LONG),
        ({"enum": ["a"]}, LONG),
        ({"enum": ["a"]}, {"a": LONG}),
        ({"const": "a"}, LONG),
        ({"required": ["a"]}, {LONG: 1}),
        ({"anyOf": [{"type": "integer"}, {"type": "array"}]}, LONG),
        ({"anyOf": [{"minLength": 10_000}, {"type": "array"}]}, LONG),
        ({"uniqueItems": True}, [LONG, LONG]),
        ({"additionalProperties": False}, {LONG: 1}),
        ({"additionalProperties": {"type": "integer"}}, {LONG: "x"}),
    ],
)
def test_a_long_value_is_cut(schema: Any, value: Any) -> None:
    refusal = field(schema, value)
    assert len(refusal.message) < 500
    assert len(refusal.param) < 500


def test_a_number_of_any_length_is_cut() -> None:
    assert len(field(STRING, 10**400).message) < 500


@each("count", [21, 1000])
def test_a_long_enumeration_is_cut(count: int) -> None:
    refusal = field({"enum": [f"name-{number}" for number in range(count)]}, "x")
    assert len(refusal.message) < 500


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


@each(
    ("schema", "value", "pattern"),
    [
        ({"pattern": "(?i)^a"}, "b", "(?i)^a"),
        ({"pattern": "\\A(?P<x>a)\\Z"}, "b", "\\A(?P<x>a)\\Z"),
        ({"pattern": "^.{1,9999}$"}, "", "^.{1,9999}$"),
        ({"pattern": "^a$"}, "b", "^a$"),
        ({"anyOf": [INTEGER, {"type": "string", "pattern": "/^a$/i"}]}, "b", "/^a$/i"),
        ({"items": {"$ref": "#/components/schemas/Code"}}, ["b"], "[[:alpha:]]1"),
        ({"allOf": [{"pattern": "(?i:^b)"}, {"pattern": "(?i)^a"}]}, "b", "(?i)^a"),
        ({"properties": {"01": {"pattern": "(?i)^a"}}}, {"01": "b"}, "(?i)^a"),
        ({"properties": {"+1": {"pattern": "(?i)^a"}}}, {"+1": "b"}, "(?i)^a"),
        ({"$ref": "#/components/schemas/007"}, "b", "(?i)^a"),
        (
            {"properties": {"1": {}, "01": {"pattern": "(?i)^a"}, SOURCE_PATTERN: {}}},
            {"01": "b"},
            "(?i:^a)",
        ),
        ({"pattern": "^a$", SOURCE_PATTERN: {"not": "ours"}}, "b", "^a$"),
    ],
)
def test_a_refusal_shows_the_pattern_of_the_document(
    schema: Any, value: Any, pattern: str, tmp_path: Path
) -> None:
    components = {"schemas": {"Root": schema, "Code": {"pattern": "[[:alpha:]]1"}}}
    components["schemas"]["007"] = {"pattern": "(?i)^a"}
    for version in ("3.0.3", "3.1.0"):
        specification, _ = read(tmp_path, document(version=version, components=components))
        assert specification is not None
        node = specification.library.document.get("components").get("schemas").step("Root")
        message = explain(specification.validator(node), value, "x").message
        assert f"expected a match of {pattern}, got" in message


def test_a_name_of_more_digits_than_python_reads_is_no_other_number() -> None:
    validator = jsonschema_rs.Draft202012Validator({"additionalProperties": {"type": "string"}})
    assert explain(validator, {"01": 1, "9" * 5000: "x"}).param == "01"


def test_a_member_named_by_digits_is_refused_at_its_place():
    """The validator tells of "01" as 1, which the body does not have."""
    validator = jsonschema_rs.Draft202012Validator({"additionalProperties": {"type": "string"}})
    assert explain(validator, {"01": 5}, "").param == "01"


def test_a_text_that_takes_too_long_to_be_compared_is_named() -> None:
    refusal = explain(validator({"pattern": r"^(a|a)*\1?$"}), "a" * 30 + "b", "x")
    assert (refusal.param, refusal.code) == ("x", "invalid_value")
    assert "'x': its pattern takes too long to compare, got the string 'aaa" in refusal.message
