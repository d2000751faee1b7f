"""`$recursiveRef` of JSON Schema 2019-09."""

from __future__ import annotations

import copy
from typing import Any

from tests.support.documents import repaired
from tests.support.each import each


@each(
    ("version", "schema", "result", "codes"),
    [
        (
            "3.1.0",
            {"$recursiveAnchor": True, "properties": {"a": {"$recursiveRef": "#"}}},
            {"properties": {"a": {"$ref": "#/components/schemas/Root"}}},
            ["MW227"],
        ),
        (
            "3.1.0",
            {"properties": {"a": {"$recursiveRef": "#"}}},
            {"properties": {"a": {"$recursiveRef": "#"}}},
            [],
        ),
    ],
)
def test_a_reference_leads_to_the_anchor_around_it(
    version: str, schema: Any, result: Any, codes: list[str]
) -> None:
    assert repaired(copy.deepcopy(schema), version=version) == (result, codes)
