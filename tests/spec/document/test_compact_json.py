"""JSON texts of values of documents read as the same values."""

from __future__ import annotations

import json
import math
from typing import Any

from engine.spec.document.compact_json import dumps, has_any_key
from tests.support.each import each

VALUES = [
    {"a": [1, -0.5, 1e-7, 1e22, True, None, "x"], "b": {}},
    {"big": 10**30, "least": -(2**63), "most": 2**64 - 1},
    {"infinite": [math.inf, -math.inf], "nulls": [None, {"a": None}]},
    [1, math.inf],
    "\ud800",
    'quoted " \\ \0 \x7f / ä € 😀',
    [{}, [], ""],
    math.inf,
    None,
]


@each("value", VALUES)
def test_a_text_reads_as_the_value(value: Any) -> None:
    text = dumps(value)
    assert text.isascii()
    assert json.loads(text) == value
    assert repr(json.loads(text)) == repr(value)


def test_a_text_without_a_number_is_not_null() -> None:
    assert math.isnan(json.loads(dumps({"a": math.nan}))["a"])
    assert math.isnan(json.loads(dumps(math.nan)))


def test_equal_values_have_equal_texts() -> None:
    assert dumps({"a": [1, "ä"]}) == dumps({"a": [1, "ä"]}) == '{"a":[1,"\\u00e4"]}'


@each(
    "value,expected",
    [
        ({"x": [{"format": 1}]}, True),
        ({"x": "format"}, False),
        ({"x": ["format", {"formats": 1}]}, False),
        ({"x": 10**30}, True),  # orjson refuses it
    ],
)
def test_a_key_is_found_at_any_depth(value: Any, expected: bool) -> None:
    assert has_any_key(value, (b'"none":', b'"format":')) is expected
