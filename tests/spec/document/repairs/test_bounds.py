"""Exclusive bounds of the other version."""

from __future__ import annotations

import copy
from typing import Any

from tests.support.documents import repaired
from tests.support.each import each


@each(
    ("version", "schema", "result", "codes"),
    [
        ("3.1.0", {"exclusiveMinimum": True, "minimum": 1}, {"exclusiveMinimum": 1}, ["MW223"]),
        ("3.1.0", {"exclusiveMaximum": False, "maximum": 1}, {"maximum": 1}, ["MW223"]),
        ("3.1.0", {"exclusiveMinimum": True}, {}, ["MW223"]),
        ("3.1.0", {"exclusiveMinimum": 1}, {"exclusiveMinimum": 1}, []),
        ("3.0.3", {"exclusiveMinimum": 1}, {"minimum": 1, "exclusiveMinimum": True}, ["MW223"]),
        ("3.0.3", {"exclusiveMinimum": True}, {}, ["MW223"]),
        (
            "3.0.3",
            {"exclusiveMinimum": True, "minimum": 1},
            {"exclusiveMinimum": True, "minimum": 1},
            [],
        ),
        ("3.0.3", {"exclusiveMinimum": 1, "minimum": 5}, {"minimum": 5}, ["MW223"]),
        ("3.0.3", {"exclusiveMaximum": 5, "maximum": 1}, {"maximum": 1}, ["MW223"]),
    ],
)
def test_a_bound_is_written_in_the_form_of_the_version(
    version: str, schema: Any, result: Any, codes: list[str]
) -> None:
    assert repaired(copy.deepcopy(schema), version=version) == (result, codes)
