"""Values of `enum` and `required` that are not of the type they need."""

from __future__ import annotations

from typing import Any

from tests.support.documents import repaired
from tests.support.each import each


@each(
    ("schema", "result"),
    [
        (
            {"type": "string", "enum": [1, "a", 2.5, False, None]},
            {"type": "string", "enum": ["1", "a", "2.5", "false", None]},
        ),
        (
            {"type": ["integer", "null"], "enum": ["1", "-2", None]},
            {"type": ["integer", "null"], "enum": [1, -2, None]},
        ),
        ({"type": "number", "enum": ["0.5"]}, {"type": "number", "enum": [0.5]}),
        ({"type": "boolean", "enum": ["true"]}, {"type": "boolean", "enum": [True]}),
        ({"required": ["a", 1, 1.5]}, {"required": ["a", "1", "1.5"]}),
    ],
)
def test_a_value_is_read_as_what_it_says(schema: Any, result: Any) -> None:
    assert repaired(schema) == (result, ["MW255"])


@each(
    "schema",
    [
        {"type": "integer", "enum": ["one", "true", "[1]"]},
        {"type": "boolean", "enum": ["1", 1]},
        {"type": "string", "enum": ["1", ["a"], {"b": 1}, None]},
        {"type": ["string", "integer"], "enum": ["1", 1]},
        {"enum": [1, "1"]},
        {"type": "integer", "enum": [1, 1.0]},
        {"type": "number", "enum": ["NaN", "Infinity", "1e999"]},
    ],
)
def test_another_value_stays(schema: Any) -> None:
    assert repaired(schema)[0] == schema
