"""Which numbers of an upstream are counts."""

import pytest

from engine.dialects.interface.usage import MOST, MOST_SECONDS, count, first, seconds


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, 0),
        (7, 7),
        (12.0, 12),
        (MOST, MOST),
        (MOST + 1, None),
        (float(MOST + 1), None),
        (-1, None),
        (-1.0, None),
        (1.5, None),
        (True, None),
        ("7", None),
        (None, None),
        (float("nan"), None),
        (float("inf"), None),
    ],
)
def test_a_count_is_a_whole_number_within_bounds(value, expected):
    assert count(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, 0.0),
        (1.5, 1.5),
        (MOST_SECONDS, MOST_SECONDS),
        (MOST_SECONDS * 2, None),
        (-0.1, None),
        (True, None),
        ("1", None),
        (float("nan"), None),
    ],
)
def test_seconds_are_a_number_within_bounds(value, expected):
    assert seconds(value) == expected


@pytest.mark.parametrize(
    ("holder", "expected"),
    [
        ({"a": 1, "b": 2}, 1),
        ({"a": None, "b": 2}, 2),
        ({"a": -1, "b": 2.0}, 2),
        ({"a": "1"}, None),
        ({}, None),
        ([1], None),
        (None, None),
    ],
)
def test_the_first_member_that_is_a_count(holder, expected):
    assert first(holder, "a", "b") == expected
