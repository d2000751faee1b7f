"""Repeated values of `enum`."""

from __future__ import annotations

from typing import Any

from tests.support.documents import repaired
from tests.support.each import each


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
