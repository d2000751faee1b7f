"""Keywords of earlier drafts of JSON Schema."""

from __future__ import annotations

from typing import Any

from tests.support.documents import repaired
from tests.support.each import each

A, B = {"type": "integer"}, {"type": "string"}


@each(
    ("schema", "result"),
    [
        ({"items": [A, B]}, {"prefixItems": [A, B]}),
        ({"items": [A], "additionalItems": B}, {"prefixItems": [A], "items": B}),
        ({"items": [A], "additionalItems": False}, {"prefixItems": [A], "items": False}),
        ({"items": [], "additionalItems": False}, {"items": False}),
        (
            {"dependencies": {"a": ["b"], "c": A}, "dependentRequired": {"a": ["d"]}},
            {"dependentRequired": {"a": ["d"]}, "dependentSchemas": {"c": A}},
        ),
    ],
)
def test_they_are_read_as_those_of_the_draft_of_31(schema: Any, result: Any) -> None:
    assert repaired(schema) == (result, ["MW223"])


@each(
    "schema", [{"items": A, "additionalItems": False}, {"items": [5]}, {"dependencies": {"a": 1}}]
)
def test_another_value_stays(schema: Any) -> None:
    assert repaired(schema) == (schema, [])


def test_a_list_stays_in_30_whose_draft_has_it() -> None:
    assert repaired({"items": [A, B]}, version="3.0.3") == ({"items": [A, B]}, [])
