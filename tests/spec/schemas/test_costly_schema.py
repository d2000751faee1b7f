"""Schemas that are presumed to be costly by their keywords."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.spec.schemas.costly_schema import has_fraction, has_slow_pattern, may_apply_many
from tests.support.documents import shipped, validator
from tests.support.each import each

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
