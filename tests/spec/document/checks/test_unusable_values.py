"""Where values of a document cannot be used by a validator."""

from __future__ import annotations

from engine.spec.document.checks.unusable_values import MAX_DEPTH, deep_places, half_characters


def test_a_value_that_is_nested_too_deeply_has_the_place_of_the_first_that_is() -> None:
    value: object = 1
    for _ in range(MAX_DEPTH + 1):
        value = {"a": value}
    assert list(deep_places(value)) == [("a",) * MAX_DEPTH]
    assert list(deep_places([[1], {"b": [2]}], depth=2)) == [(1, "b")]
    assert list(deep_places({"a": [1, 2]})) == []


def test_half_of_a_surrogate_pair_is_found_in_names_and_texts() -> None:
    value = {"a": ["x", "\ud83d"], "\udc00": 1, "b": "\U0001f600"}
    assert list(half_characters(value)) == [("a", 1), ("\udc00",)]
