"""The sentences of refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.spec.document.schema_keywords import SOURCE_PATTERN
from engine.spec.schemas.refusal_messages import Refusal, explain
from tests.support.documents import document, read
from tests.support.each import each
from tests.support.refusals import INTEGER, STRING, field, refusal_of


@each(
    ("schema", "value", "code", "message"),
    [
        (STRING, 5, "invalid_type", "Invalid type for 'x': expected a string, got 5."),
        (STRING, None, "invalid_type", "Invalid type for 'x': expected a string, got null."),
        (STRING, True, "invalid_type", "Invalid type for 'x': expected a string, got true."),
        (
            {"anyOf": [STRING, {"enum": [None]}]},
            5,
            "invalid_type",
            "Invalid type for 'x': expected a string or null, got 5.",
        ),
        (
            {"contains": INTEGER, "minContains": 2},
            [1],
            "invalid_value",
            "Invalid value for 'x': expected more items that match 'contains', "
            "got an array of 1 item.",
        ),
        (
            {"contains": INTEGER, "maxContains": 1},
            [1, 2],
            "invalid_value",
            "Invalid value for 'x': expected fewer items that match 'contains', "
            "got an array of 2 items.",
        ),
        (
            {"contains": INTEGER},
            [],
            "invalid_value",
            "Invalid value for 'x': expected an item that matches 'contains', got an empty array.",
        ),
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


def test_a_keyword_without_a_message_is_named() -> None:
    refusal = field({"prefixItems": [True], "unevaluatedItems": False}, [1, 2])
    assert refusal.code == "invalid_value"
    assert refusal.message == (
        "Invalid value for 'x': it does not satisfy 'unevaluatedItems', got an array of 2 items."
    )


@each("version", ["3.0.3", "3.1.0"])
def test_an_exclusive_bound_reads_the_same_in_both_versions(version: str) -> None:
    bound = {"exclusiveMinimum": 1} if version == "3.1.0" else {}
    schema = bound or {"minimum": 1, "exclusiveMinimum": True}
    assert (
        field(schema, 1, version).message == "Invalid value for 'x': expected more than 1, got 1."
    )


def test_a_union_that_takes_other_kinds_of_value_names_them_all() -> None:
    refusal = field({"anyOf": [STRING, {"type": "array", "items": STRING}]}, 5)
    assert refusal.message == "Invalid type for 'x': expected a string or an array, got 5."


def test_a_union_of_the_wrong_kind_is_a_wrong_type() -> None:
    assert field({"anyOf": [STRING, {"type": "array"}]}, 5).code == "invalid_type"


def test_a_nullable_type_ends_with_null() -> None:
    refusal = field({"type": ["string", "null"]}, 5)
    assert refusal.message == "Invalid type for 'x': expected a string or null, got 5."


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
