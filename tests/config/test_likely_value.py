"""The value of the right form that a wrong one was probably meant to be."""

import pytest

from engine.config import likely_value


@pytest.mark.parametrize(
    ("value", "takes_ms", "right"),
    [
        (3, True, "3s"),
        (3.5, True, "3500ms"),
        ("3 s", True, "3s"),
        ("3Sec", True, "3s"),
        ("10 minutes", True, "10m"),
        ("1h30m", True, "90m"),
        ("1.5h", True, "90m"),
        (".5s", True, "500ms"),
        ("90 days", True, "90d"),
        ("minute", False, "1m"),
        ("per hour", False, ""),
        ("250ms", False, ""),
        (True, True, ""),
        (float("inf"), True, ""),
        ("never", True, ""),
        ("-3s", True, ""),
        ([3], True, ""),
    ],
)
def test_a_duration_is_recognised(value, takes_ms, right):
    assert likely_value.duration(value, takes_ms=takes_ms) == right


@pytest.mark.parametrize(
    ("value", "right"),
    [
        (25_000_000, "25MB"),
        (1024, "1KiB"),
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
