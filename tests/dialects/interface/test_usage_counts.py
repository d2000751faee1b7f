"""Counts of tokens that upstreams report."""

import pytest

from engine.dialects.interface.usage_counts import (
    MAX_COUNT,
    MAX_SECONDS,
    count,
    object_in,
    seconds,
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, 0),
        (7, 7),
        (12.0, 12),
        (MAX_COUNT, MAX_COUNT),
        (MAX_COUNT + 1, None),
        (float(MAX_COUNT + 1), None),
        (-1, None),
        (-1.0, None),
        (1.5, None),
        (True, None),
        ("7", 7),
        (" 12 ", 12),
        ("12.0", None),
        ("x", None),
        ("9" * 21, None),
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
        (MAX_SECONDS, MAX_SECONDS),
        (MAX_SECONDS * 2, None),
        (-0.1, None),
        (True, None),
        ("1", None),
        (float("nan"), None),
    ],
)
def test_seconds_are_a_number_within_bounds(value, expected):
    assert seconds(value) == expected


def test_the_first_member_that_is_an_object_counts_and_others_are_logged_once(caplog):
    holder = {"odd_details": "x", "empty_details": [], "null_details": None, "details": {"a": 1}}
    for _ in range(3):
        assert object_in(holder, *holder) == {"a": 1}
    assert object_in(holder, "empty_details") == {}
    assert caplog.messages == [
        "usage: 'odd_details' in an upstream's answer is a string and is ignored"
    ]
