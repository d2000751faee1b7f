"""Numbers with a fraction of zeros become integers."""

from __future__ import annotations

import json
from typing import Any

from engine.spec.schemas.whole_numbers import as_integers
from tests.support.each import each


@each(
    ("value", "integers"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (1.5, "1.5"),
        ("1.0", '"1.0"'),
        ({"a": [1.0, 1.5, {"b": 2.0}], "c": True}, '{"a": [1, 1.5, {"b": 2}], "c": true}'),
    ],
)
def test_a_fraction_of_zeros_is_left_out(value: Any, integers: str) -> None:
    before = json.dumps(value)
    assert json.dumps(as_integers(value)) == integers
    assert json.dumps(value) == before


def test_a_value_without_one_is_not_copied() -> None:
    value = {"a": [1, 1.5, None]}
    assert as_integers(value) is value


def test_a_deep_value_is_no_deeper_for_it() -> None:
    value: Any = 1.0
    for _ in range(100_000):
        value = [value]
    inner = as_integers(value)
    while isinstance(inner, list):
        inner = inner[0]
    assert type(inner) is int
