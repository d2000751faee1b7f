"""Patterns that may take long for a text, and the texts for which they do."""

from __future__ import annotations

import json
import random
import time
from typing import Any

import pytest

from engine.spec.schemas import slow_patterns as module
from engine.spec.schemas.slow_patterns import SlowPatterns, slow_patterns
from tests.support.each import each

MIXED = "".join(random.Random(1).choices("ab", k=20_000))
"""A text in which a repetition has begun at other places at each position."""


def patterns_of(*patterns: str) -> SlowPatterns:
    found = slow_patterns([json.dumps({"anyOf": [{"pattern": each} for each in patterns]})])
    assert found is not None
    return found


@each(
    "schema",
    [
        {"pattern": "^[a-z]+$"},
        {"pattern": "([a-z]+)*x"},
        {"pattern": "^[a-zA-Z0-9_-]{1,64}$"},
        {"pattern": "^(?:[a-z]{3}){64}$"},
        {"pattern": "[0-9]{3}-[0-9]{4}"},
        {"pattern": r"^\\1{1,64}[(?=]$"},
        {"pattern": r"^\p{L}+[*+]+\++$"},
        {"properties": {"pattern": {"type": "string"}}, "description": "(?=a) {10}"},
        {"pattern": "(?=a"},  # the engine compiles no such pattern
    ],
)
def test_most_patterns_take_no_longer_than_a_text_is_long(schema: Any) -> None:
    assert slow_patterns([json.dumps(schema)]) is None


@each(
    "schema",
    [
        {"pattern": "^(?!.*--)[a-z-]+$"},
        {"items": {"anyOf": [{"pattern": r"(a|b)\1"}]}},
        {"patternProperties": {"(?<=a)b": {}}},
        {"pattern": "(?:a++|a)+b"},
        {"pattern": "a.{0,200}b"},
        {"pattern": "^[a-z]{1,50}(?:-[a-z]{1,50}){3}$"},
        {"pattern": "^a|[a-z]{1,50}$"},
    ],
)
def test_some_may_take_long(schema: Any) -> None:
    assert slow_patterns(["{}", json.dumps(schema)]) is not None


@each(
    ("pattern", "value", "is_long"),
    [
        ("(?<!x)a+b", {"m": "a" * 2_000}, True),
        ("(?<!x)a+b", {"a" * 2_000: ""}, True),
        ("(?<!x)a+b", [["a" * 1_000] * 3], True),
        ("(?<!x)a+b", ["a" * 1_000], False),
        ("(?<!x)a+b", [1, None, {"m": True}], False),
        (r"^(a|aa)+(?!c)\1d$", "a" * 16, False),
        (r"^(a|aa)+(?!c)\1d$", ["", {"m": "a" * 40}], True),
        ("a[ab]{0,200}[cd]", MIXED, True),
        ("a[ab]{0,200}[cd]", MIXED[:1_000], False),
        ("a[ab]{0,200}[cd]", "no such letters " * 10_000, False),
    ],
)
def test_the_texts_of_a_value_decide(pattern: str, value: Any, is_long: bool) -> None:
    assert patterns_of(pattern).may_take_long(value) is is_long


def test_to_find_it_takes_little_time() -> None:
    """What the pattern itself takes for the same text is a hundred times as long."""
    patterns = patterns_of("a[ab]{0,200}[cd]", "b[ab]{0,200}[cd]")
    begin = time.thread_time()
    assert patterns.may_take_long([MIXED * 5] * 10)
    assert time.thread_time() - begin < 20 * module.MAX_SECONDS


def test_many_patterns_take_little_time_as_well() -> None:
    patterns = patterns_of(*(f"(?=.*b)(?!.*--)c{{{n}}}(?:[ab]|a)*x$" for n in range(300)))
    begin = time.thread_time()
    assert patterns.may_take_long("a" * 1_400)
    assert time.thread_time() - begin < 0.3  # 8 ms; 1.3 s if all are tried


def test_many_texts_are_judged_elsewhere_after_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    patterns = patterns_of("(?<!x)a+b")
    value = ["aab"] * 10
    assert not patterns.may_take_long(value)
    monkeypatch.setattr(module, "MAX_SECONDS", 0)
    assert patterns.may_take_long(value)
