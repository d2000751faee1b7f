"""Repeated values of `enum`, and repeated branches of `oneOf`."""

from __future__ import annotations

from typing import Any

from tests.support.documents import repaired
from tests.support.each import each

REF, OTHER = {"$ref": "#/components/schemas/Root"}, {"type": "string"}


@each(
    ("values", "result"),
    [
        (["a", "b", "a"], ["a", "b"]),
        ([{"a": 1}, {"a": 1}, None, None], [{"a": 1}, None]),
        ([1, True, "1"], [1, True, "1"]),
        ("a", "a"),
    ],
)
def test_each_value_is_kept_once(values: Any, result: Any) -> None:
    codes = ["MW257"] if values != result else []
    assert repaired({"enum": values}) == ({"enum": result}, codes)


@each(
    ("branches", "result"),
    [
        ([REF, OTHER, REF], [REF, OTHER]),
        ([REF, OTHER, OTHER, OTHER], [REF, OTHER]),
        ([REF, OTHER], [REF, OTHER]),
        ([REF], [REF]),
        ("x", "x"),
    ],
)
def test_each_branch_is_kept_once(branches: Any, result: Any) -> None:
    codes = ["MW257"] if branches != result else []
    assert repaired({"oneOf": branches}) == ({"oneOf": result}, codes)


def test_both_keywords_of_a_schema_are_repaired() -> None:
    schema = {"oneOf": [OTHER, OTHER], "enum": ["a", "a"]}
    assert repaired(schema) == ({"oneOf": [OTHER], "enum": ["a"]}, ["MW257", "MW257"])
