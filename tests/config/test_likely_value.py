"""The value of the right form that a wrong one was probably meant to be."""

import pytest

from engine.config import likely_value


@pytest.mark.parametrize(
    ("value", "whole", "right"),
    [
        (3, False, "3s"),
        (3.5, False, "3500ms"),
        ("3 s", False, "3s"),
        ("3Sec", False, "3s"),
        ("10 minutes", False, "10m"),
        ("1h30m", False, "90m"),
        ("1.5h", False, "90m"),
        (".5s", False, "500ms"),
        ("90 days", False, "90d"),
        ("minute", True, "1m"),
        ("per hour", True, ""),
        ("250ms", True, ""),
        (True, False, ""),
        (float("inf"), False, ""),
        ("never", False, ""),
        ("-3s", False, ""),
        ([3], False, ""),
    ],
)
def test_a_duration_is_recognised(value, whole, right):
    assert likely_value.duration(value, whole=whole) == right


@pytest.mark.parametrize(
    ("value", "right"),
    [
        (25_000_000, "25MB"),
        (1024, "1024B"),
        ("25 MB", "25MB"),
        ("25mb", "25MB"),
        ("25M", "25MB"),
        ("1gi", "1GiB"),
        ("1.5 GB", "1.5GB"),
        ("10 bytes", "10B"),
        ("big", ""),
        (True, ""),
        (-1, ""),
    ],
)
def test_a_size_is_recognised(value, right):
    assert likely_value.size(value) == right
