"""The cost of schemas: an upper bound of what jsonschema_rs does, found without validating."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.spec.document.compact_json import dumps
from engine.spec.schemas.compiled_schemas import SchemaParts
from engine.spec.schemas.json_schema_files import Purpose, json_schema_files
from engine.spec.schemas.schema_cost import (
    SchemaCost,
    has_fraction,
    has_slow_pattern,
    may_apply_many,
    may_be_expensive,
)
from tests.support.documents import library, shipped, validator
from tests.support.each import each
from tests.support.schema_levels import URI, levels, ref

NAMES = ["A", "B", "C", "D"]


def cost(schema: Any, **more: Any) -> SchemaCost:
    files = library({"openapi": "3.1.0", "schemas": {"Root": schema, **more}})
    text, parts = SchemaParts(json_schema_files(files, Purpose.REQUEST)).of(
        URI, ("schemas", "Root")
    )
    return SchemaCost(URI, text, parts)


@each("keyword", ["anyOf", "oneOf", "allOf"])
def test_branches_that_refer_twice_double_with_every_level(keyword: str) -> None:
    for number in (1, 5, 25, 200):
        most = cost(ref("S0"), **levels(number, keyword)).most
        assert 2**number <= most < 2 ** (number + 3)


def test_members_that_two_branches_describe_double_too() -> None:
    schemas: dict[str, Any] = {
        f"S{n}": {"oneOf": [{"properties": {"a": ref(f"S{n + 1}")}}] * 2} for n in range(10)
    }
    chain = cost(ref("S0"), **schemas, S10={"type": "string"})
    assert chain.most >= 2**10
    assert not chain.exceeds({}, 10)
    assert not chain.exceeds({"b": {"a": {"a": 1}}}, 10)
    value: Any = 1
    for _ in range(10):
        value = {"a": value}
    assert chain.exceeds(value, 2**10)


def test_unevaluated_members_apply_the_branches_again() -> None:
    schemas: dict[str, Any] = {
        f"S{n}": {"allOf": [ref(f"S{n + 1}")], "unevaluatedProperties": False} for n in range(20)
    }
    assert cost(ref("S0"), **schemas, S20={"type": "object"}).most > 2**20


def test_the_place_is_that_of_the_schema_that_multiplies() -> None:
    worst = cost({"allOf": [{"type": "object"}, ref("S0")]}, **levels(20)).worst
    assert worst.path[-1] == "S0"


def test_a_wide_schema_is_not_expensive() -> None:
    wide = {f"m{n}": {"anyOf": [{"type": "string"}, {"type": "null"}]} for n in range(500)}
    assert cost({"properties": wide}).most < 10


def test_a_recursive_schema_validates_every_part_once_but_repeats_its_errors() -> None:
    node = {"oneOf": [{"properties": {"a": ref("N")}}, {"properties": {"a": ref("N")}}]}
    recursive = cost(ref("N"), N=node)
    assert recursive.is_recursive
    value: Any = {}
    for _ in range(30):
        value = {"a": value}
    assert not recursive.exceeds(value, 500)
    assert recursive.exceeds(value, 10**6, errors=True)


def test_the_work_of_counting_grows_with_the_value_only() -> None:
    chain = cost({"items": ref("S0")}, **levels(300))
    assert chain.exceeds([1], 2**200)
    assert not chain.exceeds([], 10)
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]
    assert not cost({"items": ref("N")}, N={"items": ref("N")}).exceeds(deep, 20_000)


def test_a_short_schema_cannot_be_expensive() -> None:
    assert not may_be_expensive(['{"anyOf": [{"type": "string"}]}'])
    assert may_be_expensive(["{}", *(dumps(schema) for schema in levels(25).values())])


_LEAF = st.sampled_from([{"format": "count"}, {"type": "object"}, {"required": ["a"]}, {}])


def _schemas(after: int) -> st.SearchStrategy[Any]:
    """Schemas that refer only to those after one, so that none refers to itself."""
    leaf = st.one_of(_LEAF, *[st.just(ref(name)) for name in NAMES[after:]])
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            *[st.fixed_dictionaries({w: st.lists(inner, min_size=1, max_size=3)}) for w in _LISTS],
            st.fixed_dictionaries({"not": inner}),
            st.fixed_dictionaries({"properties": st.dictionaries(_KEYS, inner, max_size=2)}),
            st.fixed_dictionaries({"additionalProperties": inner}),
            st.fixed_dictionaries({"items": inner}),
            st.fixed_dictionaries({"if": inner, "then": inner}),
        ),
        max_leaves=6,
    )


_LISTS, _KEYS = ("allOf", "anyOf", "oneOf"), st.sampled_from(["a", "b"])
_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.just("x"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=2),
    max_leaves=6,
)


@given(st.tuples(*[_schemas(n) for n in range(len(NAMES) + 1)]), _VALUES)
@settings(deadline=None)
def test_no_validation_takes_more_steps_than_its_cost(schemas: tuple[Any, ...], value: Any) -> None:
    root, *others = schemas
    steps = errors = 0

    def counting(text: str) -> bool:
        nonlocal steps
        steps += 1
        return text == "y"

    document = {"schemas": dict(zip(NAMES, others, strict=True)), **root}
    validator = jsonschema_rs.Draft202012Validator(
        document, formats={"count": counting}, validate_formats=True
    )
    bound = cost(root, **document["schemas"])
    validator.is_valid(value)
    assert steps <= 1 or bound.exceeds(value, steps - 1)
    stack = list(validator.iter_errors(value))
    while stack:
        error = stack.pop()
        errors += 1
        stack += [e for branch in error.kind.as_dict().get("context") or () for e in branch]
    assert errors <= 1 or bound.exceeds(value, (errors - 1) // 2, errors=True)


PLAIN = json.dumps({"type": "string"})


@each(
    ("schema", "is_slow"),
    [
        ({"pattern": r"^(.*)-\1$"}, True),
        ({"pattern": r"(?<a>x)\k<a>"}, True),
        ({"pattern": r"^(?=.*a)b"}, True),
        ({"pattern": r"^(?!a)b"}, True),
        ({"pattern": r"(?<!a)b"}, True),
        ({"pattern": r"(?<=a)b"}, True),
        ({"pattern": 'a"b(?!c)'}, True),
        ({"pattern": r"a\\(?!c)"}, True),
        ({"pattern": r"a\(?=c"}, False),
        ({"pattern": "(?<name>a)b"}, False),
        ({"pattern": r"^\d{1,9}\\1$"}, False),
        ({"pattern": "^a+$", "description": "(?=a)"}, False),
        ({"description": "(?=a)"}, False),
        ({"patternProperties": {"^(?!x-)": {}}}, True),
        ({"patternProperties": {r"^(a)\1": {}}}, True),
        ({"patternProperties": {"^x-": {}}}, False),
    ],
)
def test_patterns_that_take_long_for_a_long_text(schema: Any, is_slow: bool) -> None:
    for text in (json.dumps(schema), json.dumps(schema, separators=(",", ":"))):
        assert has_slow_pattern([PLAIN, text]) is is_slow


@each(("multiple", "is_slow"), [(0.01, True), (1.5, True), (1e-7, True), (10, False), (1.0, False)])
def test_multiples_that_take_long_for_each_number(multiple: float, is_slow: bool) -> None:
    assert has_fraction([PLAIN, json.dumps({"multipleOf": multiple})]) is is_slow


def test_patterns_of_names_may_apply_many_schemas() -> None:
    assert may_apply_many([PLAIN, json.dumps({"patternProperties": {"^a": {}}})])
    assert not may_apply_many([PLAIN, json.dumps({"properties": {"a": {}}})])


def test_a_long_list_may_apply_many_schemas() -> None:
    texts = [json.dumps({"anyOf": [{"const": 1}] * count}) for count in (10, 150)]
    assert [may_apply_many([text]) for text in texts] == [False, True]


@each(
    ("schema", "is_costly"),
    [
        ({"oneOf": [{"const": number} for number in range(200)]}, True),
        ({"oneOf": [{"const": number} for number in range(100)]}, False),
        ({"patternProperties": {f"^x{number}": {} for number in range(200)}}, True),
        ({"patternProperties": {f"^x{number}": {} for number in range(100)}}, False),
        ({"items": {"multipleOf": 0.5}}, True),
    ],
)
def test_a_schema_that_applies_many_others_is_costly(schema: Any, is_costly: bool) -> None:
    assert validator(schema).is_costly is is_costly


@pytest.mark.parametrize("name", ["anthropic", "gemini", "openai", "rerank"])
def test_no_schema_of_the_shipped_documents_is_costly(name: str) -> None:
    specification, _ = shipped(name)
    bodies = [operation.bodies for operation in specification.operations.values()]
    validators = [rule.validator for each in bodies for rule in each.rules.values()]
    assert [each for each in validators if each is not None and each.is_costly] == []
