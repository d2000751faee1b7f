"""Null that one keyword allows and another refuses."""

from __future__ import annotations

import copy
from typing import Any

from tests.support.documents import repaired
from tests.support.each import each


@each(
    ("version", "schema", "result", "codes"),
    [
        ("3.1.0", {"type": "string", "nullable": True}, {"type": ["string", "null"]}, ["MW224"]),
        ("3.1.0", {"type": "string", "nullable": False}, {"type": "string"}, ["MW224"]),
        (
            "3.1.0",
            {"type": "string", "enum": ["a"], "nullable": True},
            {"type": ["string", "null"], "enum": ["a", None]},
            ["MW224"],
        ),
        (
            "3.1.0",
            {"anyOf": [{"type": "string"}], "nullable": True},
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
            ["MW224"],
        ),
        (
            "3.1.0",
            {"allOf": [{"type": "string"}], "title": "T", "nullable": True},
            {"title": "T", "anyOf": [{"allOf": [{"type": "string"}]}, {"type": "null"}]},
            ["MW224"],
        ),
        (
            "3.1.0",
            {"type": ["string", "null"], "enum": ["a"]},
            {"type": ["string", "null"], "enum": ["a", None]},
            ["MW240"],
        ),
        ("3.0.3", {"type": "string", "nullable": True}, {"type": "string", "nullable": True}, []),
        (
            "3.0.3",
            {"allOf": [{"type": "string"}], "nullable": True},
            {"anyOf": [{"allOf": [{"type": "string"}]}, {"enum": [None]}]},
            ["MW240"],
        ),
        (
            "3.0.3",
            {"type": "string", "enum": ["a"], "nullable": True},
            {"type": "string", "enum": ["a", None], "nullable": True},
            ["MW240"],
        ),
    ],
)
def test_null_is_allowed_where_a_keyword_says_so(
    version: str, schema: Any, result: Any, codes: list[str]
) -> None:
    assert repaired(copy.deepcopy(schema), version=version) == (result, codes)
