"""The keywords of JSON Schema whose schemas apply to the same value, or to items of it."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from engine.spec.document.schema_keywords import SAME_VALUE, SAME_VALUE_LISTS, of_items, same_value

MARK: dict[str, Any] = {"title": "mark"}
SINGLE = {
    word: {word: MARK, "if": True} if word in ("then", "else") else {word: MARK}
    for word in SAME_VALUE
}
LISTS = {word: {word: [{}, MARK]} for word in SAME_VALUE_LISTS}
MAPPINGS = {"dependentSchemas": {"dependentSchemas": {"a": MARK}}}
ITEMS: list[dict[str, Any]] = [{"items": MARK}, {"contains": MARK}, {"prefixItems": [{}, MARK]}]


@pytest.mark.parametrize("schema", [*SINGLE.values(), *LISTS.values(), *MAPPINGS.values()])
def test_a_schema_for_the_same_value_is_listed(schema: dict[str, Any]) -> None:
    assert MARK in same_value(schema)
    assert not list(of_items(schema))


@pytest.mark.parametrize("schema", ITEMS)
def test_a_schema_for_items_is_listed(schema: dict[str, Any]) -> None:
    assert MARK in of_items(schema)
    assert not list(same_value(schema))


def test_schemas_for_members_are_not_listed() -> None:
    schema = {"properties": {"a": MARK}, "additionalProperties": MARK, "propertyNames": MARK}
    assert not [*same_value(schema), *of_items(schema)]


def test_the_validator_applies_the_listed_schemas_to_the_same_value() -> None:
    for word in SAME_VALUE_LISTS:
        assert not jsonschema_rs.is_valid({word: [{"const": 1}]}, 2)
    assert not jsonschema_rs.is_valid({"not": {"const": 2}}, 2)
