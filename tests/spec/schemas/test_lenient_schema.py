"""The more open reading of a schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engine.spec.schemas.compiled_schemas import Schemas
from engine.spec.schemas.json_schema_files import Purpose
from tests.support.documents import document, library, read
from tests.support.each import each

OTHER = {"type": "object", "required": ["q"], "properties": {"q": {"type": "string"}}}


def lenient(schema: Any, version: str) -> Any:
    schemas = {"Root": schema, "Other": OTHER}
    result = library(document(version=version, components={"schemas": schemas}))
    node = result.document.get("components").get("schemas").step("Root")
    return Schemas(result, Purpose.LENIENT).validator(node)


def properties(required: list[str] | None = None, **referenced: Any) -> dict[str, Any]:
    more = {"required": required} if required else {}
    return {"type": "object", "additionalProperties": False, "properties": referenced, **more}


@each("version", ["3.0.3", "3.1.0"])
@each(
    ("schema", "right", "wrong"),
    [
        (properties(a={"type": "string"}), [{"b": 1}, {"a": None}], [{"a": 1}, []]),
        (properties(["a"], a={"type": "string"}), [{"a": ""}], [{"a": None}, {}]),
        ({"type": "string", "enum": ["a", "b"]}, ["c"], [1]),
        ({"enum": ["a", 1]}, ["c", 2.5], [None, {}]),
        ({"type": "string", "enum": ["only"]}, ["only"], ["other"]),
        (properties(a={"type": "string", "enum": ["only"]}), [{"a": None}], [{"a": "other"}]),
        ({"enum": ["only", None]}, ["only", None], ["other"]),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, [1, 1.5], ["x"]),
        ({"oneOf": [{"type": "integer"}], "anyOf": [{"minimum": 5}]}, [5], [4, "x"]),
        (
            properties(a={"$ref": "#/components/schemas/Other"}),
            [{"a": None}, {"a": {"q": "x", "z": 1}}],
            [{"a": {}}, {"a": {"q": None}}],
        ),
    ],
)
def test_unknown_values_pass_and_wrong_ones_do_not(
    version: str, schema: Any, right: list[Any], wrong: list[Any]
) -> None:
    validator = lenient(schema, version)
    assert [value for value in right if not validator.is_valid(value)] == []
    assert [value for value in wrong if validator.is_valid(value)] == []


ONE_OF_A_AND_B = [{"required": ["a"]}, {"required": ["b"]}]
REFERENCED = {"a": {"type": "string"}, "b": {"type": "string"}}


@each("version", ["3.0.3", "3.1.0"])
@each(
    "alternatives",
    [
        {"anyOf": ONE_OF_A_AND_B},
        {"oneOf": ONE_OF_A_AND_B},
        {"anyOf": ONE_OF_A_AND_B, "not": {"required": ["a", "b"]}},
        {
            "oneOf": [
                {"type": "object", "title": "A", "x-order": 1, **branch}
                for branch in ONE_OF_A_AND_B
            ]
        },
        {"oneOf": [*ONE_OF_A_AND_B, {"not": {"required": ["a"]}}]},
        {"anyOf": ONE_OF_A_AND_B, "oneOf": [{"required": ["b"]}, {"required": ["c"]}]},
        {"allOf": [{"anyOf": ONE_OF_A_AND_B}, {"oneOf": ONE_OF_A_AND_B}]},
    ],
)
def test_alternatives_that_only_say_which_members_stand_together_refuse_no_object(
    version: str, alternatives: dict[str, Any]
) -> None:
    validator = lenient({**properties(**REFERENCED), **alternatives}, version)
    right = [{}, {"a": "x"}, {"b": "x"}, {"a": "x", "b": "x"}, {"new": 1}]
    assert [value for value in right if not validator.is_valid(value)] == []
    assert [value for value in ({"a": 1}, {"b": []}, [], "x") if validator.is_valid(value)] == []


@each(
    ("schema", "wrong"),
    [
        ({"anyOf": [{"type": "object", **branch} for branch in ONE_OF_A_AND_B]}, "x"),
        ({**properties(**REFERENCED), "anyOf": [*ONE_OF_A_AND_B, {"maxProperties": 0}]}, {"c": 1}),
        ({**properties(["a"], **REFERENCED), "anyOf": ONE_OF_A_AND_B}, {"b": "x"}),
        ({**properties(**REFERENCED), "not": {"required": ["a"]}}, {"a": "x"}),
        ({"not": {"anyOf": ONE_OF_A_AND_B}}, {"a": "x"}),
        ({"if": {"oneOf": ONE_OF_A_AND_B}, "then": False}, {"a": "x"}),
    ],
)
def test_alternatives_with_other_constraints_are_unchanged(schema: Any, wrong: Any) -> None:
    assert not lenient(schema, "3.1.0").is_valid(wrong)


CONDITIONS = [
    ({"not": {"enum": ["a", "b"]}}, ["c", 1], ["a"]),
    ({"not": properties(a={"enum": ["x", "y"]})}, [{"a": "z"}], [{"a": "x"}]),
    ({"not": {"$ref": "#/components/schemas/Choice"}}, ["c"], ["a"]),
    ({"if": {"enum": ["a", "b"]}, "then": {"const": "a"}}, ["a", "c"], ["b"]),
    ({"if": {"$ref": "#/components/schemas/Nested"}, "then": False}, [["c"]], [["a"]]),
    ({"if": {"enum": ["a", "b"]}, "else": {"enum": ["c", "d"]}}, ["a", "e"], [5]),
    ({"contains": {"enum": ["a", "b"]}, "maxContains": 1}, [["a", "c"]], [["a", "b"]]),
]
COMPONENTS = {
    "Choice": {"enum": ["a", "b"]},
    "Nested": {"items": {"$ref": "#/components/schemas/Choice"}},
}


def compiled(schema: Any, purpose: Purpose, **components: Any) -> Any:
    schemas = {"Root": schema, "Other": OTHER, **COMPONENTS, **components}
    result = library(document(components={"schemas": schemas}))
    return Schemas(result, purpose).validator(
        result.document.get("components").get("schemas").step("Root")
    )


@each(("schema", "right", "wrong"), CONDITIONS)
def test_a_condition_is_not_opened_for_that_would_refuse_more(
    schema: Any, right: list[Any], wrong: list[Any]
) -> None:
    validator = compiled(schema, Purpose.LENIENT)
    assert [value for value in right if not validator.is_valid(value)] == []
    assert [value for value in wrong if validator.is_valid(value)] == []


def test_a_condition_in_another_file_is_not_opened(tmp_path: Path) -> None:
    parts = {"Choice": {"enum": ["a", "b"]}, "Not": {"not": {"$ref": "#/Choice"}}}
    (tmp_path / "parts.yaml").write_text(json.dumps(parts))
    schemas = {"A": {"$ref": "parts.yaml#/Not"}, "B": {"not": {"$ref": "parts.yaml#/Choice"}}}
    specification, _ = read(tmp_path, document(components={"schemas": schemas}))
    assert specification is not None
    result = Schemas(specification.library, Purpose.LENIENT)
    for name in schemas:
        node = specification.library.document.get("components").get("schemas").get(name)
        assert not result.validator(node).is_valid("a")
        assert result.validator(node).is_valid("c")


ITEM = {
    "type": "object",
    "required": ["type", "text", "detail", "notes", "strict", "size", "some", "any"],
    "properties": {
        "type": {"const": "item"},
        "text": {"type": "string"},
        "detail": {"$ref": "#/components/schemas/Choice"},
        "notes": {"type": "array"},
        "strict": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
        "size": {"type": "integer", "default": 1},
        "some": {"type": "array", "minItems": 1},
        "any": {},
    },
}


def body_of(item: Any, *, in_responses: bool) -> Any:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Item"}}}
    post: Any = {"operationId": "x", "requestBody": {"content": content}, "responses": {}}
    if in_responses:
        post["responses"]["200"] = {"description": "", "content": content}
    schemas = {"Item": item, **COMPONENTS}
    result = library(document(paths={"/x": {"post": post}}, components={"schemas": schemas}))
    return Schemas(result, Purpose.LENIENT).validator(
        result.document.get("components").get("schemas").step("Item")
    )


def test_a_tagged_object_of_responses_may_omit_members_with_obvious_values() -> None:
    least = {"type": "item", "text": "x", "some": [1], "any": 1}
    validator = body_of(ITEM, in_responses=True)
    assert validator.is_valid(least)
    for name in least:
        less = {key: value for key, value in least.items() if key != name}
        assert not validator.is_valid(less), name


def test_an_object_only_in_requests_or_without_a_tag_keeps_all_required_members() -> None:
    least = {"type": "item", "text": "x", "some": [1], "any": 1}
    assert not body_of(ITEM, in_responses=False).is_valid(least)
    untagged = {**ITEM, "required": [name for name in ITEM["required"] if name != "type"]}
    assert not body_of(untagged, in_responses=True).is_valid(least)


words = st.sampled_from(["a", "b", "c"])
values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | words,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(words, below, max_size=3),
    max_leaves=6,
)


def _object_of(below: Any) -> Any:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "array", "string", ["integer", "null"]]),
            "properties": st.dictionaries(words, below, max_size=2),
            "required": st.lists(words, unique=True, max_size=2),
            "additionalProperties": st.just(False) | below,
            "items": below,
            "contains": below,
            "maxContains": st.integers(0, 2),
            "allOf": st.lists(below, min_size=1, max_size=2),
            "anyOf": st.lists(below, min_size=1, max_size=2),
            "oneOf": st.lists(below, min_size=1, max_size=2),
            "not": below,
            "if": below,
            "then": below,
            "else": below,
        },
    )


members = st.lists(words, unique=True, max_size=2)
presence = st.fixed_dictionaries(
    {},
    optional={
        "type": st.just("object"),
        "required": members,
        "not": st.fixed_dictionaries({"required": members}),
    },
)
schemas_of_all_kinds = st.recursive(
    st.sampled_from([{}, {"type": "string"}, {"const": "a"}])
    | st.lists(values, min_size=1, max_size=3, unique_by=repr).map(lambda result: {"enum": result})
    | st.sampled_from(["Other", "Choice", "Nested"]).map(
        lambda name: {"$ref": f"#/components/schemas/{name}"}
    )
    | presence,
    _object_of,
    max_leaves=6,
)


@given(schemas_of_all_kinds, st.lists(values, min_size=1, max_size=6))
def test_lenient_accepts_whatever_strict_accepts(schema: Any, several: list[Any]) -> None:
    strict, lenient = compiled(schema, Purpose.REQUEST), compiled(schema, Purpose.LENIENT)
    assert [v for v in several if strict.is_valid(v) and not lenient.is_valid(v)] == []


def test_a_literal_in_the_form_of_a_reference_is_none(tmp_path: Path) -> None:
    literal = {"enum": [{"$ref": "#/nothing"}, {"$ref": "other.yaml#/x"}]}
    content = {"application/json": {"schema": {"properties": {"a": literal}}}}
    post = {
        "operationId": "x",
        "requestBody": {"content": content},
        "responses": {"200": {"description": "d", "content": content}},
    }
    specification, _ = read(tmp_path, document(paths={"/x": {"post": post}}))
    assert specification is not None
    operation = specification.operations["x"]
    lenient = specification.recompile(operation, lenient=True, with_names=False)
    validator = lenient.bodies.rules["application/json"].validator
    assert validator is not None
    assert validator.is_valid({"a": {"$ref": "#/nothing"}})
