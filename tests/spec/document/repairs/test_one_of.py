"""Repeated branches of `oneOf`."""

from __future__ import annotations

from typing import Any

from tests.support.documents import repaired
from tests.support.each import each

REF, OTHER = {"$ref": "#/components/schemas/Root"}, {"type": "string"}


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
