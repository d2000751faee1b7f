"""Numbers, `true` and `false` as texts."""

from __future__ import annotations

from typing import Any

from tests.support.documents import repaired
from tests.support.each import each


@each(
    ("schema", "result"),
    [
        ({"maxLength": "10"}, {"maxLength": 10}),
        ({"minimum": " -1.5 "}, {"minimum": -1.5}),
        ({"additionalProperties": "false"}, {"additionalProperties": False}),
        ({"uniqueItems": "True"}, {"uniqueItems": True}),
        ({"exclusiveMinimum": "0"}, {"exclusiveMinimum": 0}),
        ({"readOnly": "true"}, {"readOnly": True}),
    ],
)
def test_a_text_is_read_as_what_it_says(schema: Any, result: Any) -> None:
    assert repaired(schema) == (result, ["MW255"])


@each("schema", [{"maxLength": "ten"}, {"minimum": "0x1"}, {"uniqueItems": "yes"}, {"enum": ["1"]}])
def test_another_text_stays(schema: Any) -> None:
    assert repaired(schema) == (schema, [])
