"""Durations and sizes."""

import re
import socket
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.values import units
from engine.values.units import DURATION, MAX_DURATION, SIZE, seconds, size


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("250ms", 0.25),
        ("3s", 3),
        ("10m", 600),
        ("1h", 3600),
        ("90d", 7776000),
        ("1.5s", 1.5),
        ("0s", 0),
    ],
)
def test_a_duration_is_read_in_seconds(text, expected):
    assert seconds(text) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0B", 0),
        ("512KB", 512_000),
        ("25MB", 25_000_000),
        ("1GB", 10**9),
        ("1KiB", 1024),
        ("1.5MiB", 1_572_864),
        ("1GiB", 2**30),
    ],
)
def test_a_size_is_read_in_bytes(text, expected):
    assert size(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3",
        "s",
        "3 s",
        "-3s",
        "+3s",
        "3S",
        "3sec",
        "3s3",
        ".5s",
        "1.s",
        "1e3s",
        " 3s",
        "3s\n",
        "٣s",
    ],
)
def test_anything_else_is_no_duration(text):
    with pytest.raises(ValueError, match="is not a duration like"):
        seconds(text)


@pytest.mark.parametrize(
    "text", ["", "3", "MB", "3 MB", "-3MB", "3mb", "3M", "3kB", "1.MB", ".5MB", "3MB\n", "3MBs"]
)
def test_anything_else_is_no_size(text):
    with pytest.raises(ValueError, match="is not a size like"):
        size(text)


def test_an_absurd_number_is_refused_and_never_another_exception():
    with pytest.raises(ValueError):
        size("9" * 400 + "MB")
    with pytest.raises(ValueError):
        seconds("9" * 400 + "d")


@given(st.integers(0, 10**9 - 1), st.sampled_from(["ms", "s", "m", "h", "d"]))
def test_every_whole_number_with_a_unit_is_a_duration(number, unit):
    expected = min(number * seconds(f"1{unit}"), MAX_DURATION)
    assert seconds(f"{number}{unit}") == pytest.approx(expected)


@pytest.mark.parametrize("text", ["999999999d", "999999999h", "36501d"])
def test_a_duration_is_never_more_than_a_timer_can_hold(text):
    assert seconds(text) == MAX_DURATION
    with socket.socket() as sock:
        sock.settimeout(seconds(text))


@given(st.integers(0, 10**9), st.sampled_from(["B", "KB", "MB", "GB", "KiB", "MiB", "GiB"]))
def test_every_whole_number_with_a_unit_is_a_size(number, unit):
    assert size(f"{number}{unit}") == number * size(f"1{unit}")


@given(st.text(alphabet="0123456789.smhdKMGiB \n", max_size=8))
def test_the_patterns_say_what_is_read(text):
    for pattern, read in ((DURATION, seconds), (SIZE, size)):
        try:
            read(text)
            good = True
        except ValueError:
            good = False
        # JSON Schema's `$`, unlike Python's, does not match before a final line end.
        assert good == bool(re.search(pattern.replace("$", r"\Z"), text))


def test_formatted_numbers_are_short():
    assert [units.format_seconds(x) for x in (None, 0.0004, 0.25, 1.5, 42.0, 125.0)] == [
        *("-", "0.4ms", "250ms", "1.50s", "42.0s", "2m05s")
    ]
    assert [units.format_number(x) for x in (None, 0, 0.03, 12.34, 1234.0, 56_700.0, 2e6)] == [
        *("-", "0", "0.03", "12.3", "1234", "56.7k", "2.0M")
    ]
    assert [units.format_percent(1, n) for n in (0, 300, 8)] == ["-", "0.3%", "12%"]
    assert [units.format_amount(x) for x in (0, 0.0042, 1.25, 1234.5)] == [
        "0",
        "0.0042",
        "1.25",
        "1234",
    ]


@pytest.mark.parametrize(
    ("nanos", "text"),
    [
        (0, "0.00"),
        (1, "0.000000001"),
        (1_500_000_000, "1.50"),
        (123_456_789_012_345_678_901, "123456789012.345678901"),
    ],
)
def test_nano_units_are_formatted_exactly(nanos, text):
    assert units.format_nano(nanos) == text


@pytest.mark.parametrize(
    ("text", "zone", "end_of_day", "expected"),
    [
        ("2026-10-25", "UTC", False, "2026-10-25T00:00+00:00"),
        ("2026-10-25", "UTC", True, "2026-10-26T00:00+00:00"),
        ("2026-10-25", "Europe/Vienna", False, "2026-10-25T00:00+02:00"),
        ("2026-10-25", "Europe/Vienna", True, "2026-10-26T00:00+01:00"),  # a day of 25 hours
        ("2026-10-25T12:00", "Europe/Vienna", True, "2026-10-25T12:00+01:00"),
        ("2026-10-25T12:00Z", "Europe/Vienna", True, "2026-10-25T12:00+00:00"),
    ],
)
def test_a_time_of_a_time_zone(text, zone, end_of_day, expected):
    seconds = units.unix_time(text, end_of_day=end_of_day, time_zone=ZoneInfo(zone))
    assert seconds == datetime.fromisoformat(expected).timestamp()


def test_the_last_day_that_there_is_has_an_end():
    last = units.unix_time("9999-12-31", end_of_day=False)
    assert units.unix_time("9999-12-31") == last + 86_400


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (12_345, "12,345 rows")]
)
def test_a_count_has_its_noun(count, text):
    assert units.format_count(count, "row") == text


@pytest.mark.parametrize(
    ("names", "most", "text"),
    [
        ([], 2, ""),
        (["a", "b"], 2, "a, b"),
        (["a", "b", "c", "d"], 2, "a, b and 2 more"),
        (["a", "b", "c"], None, "a, b, c"),
    ],
)
def test_names_beyond_the_most_are_counted(names, most, text):
    assert units.format_names(names, most) == text


def test_a_long_text_is_cut():
    assert [units.format_excerpt(text, 3) for text in ("", "abc", "abcd")] == ["", "abc", "abc..."]
