"""Windows of the calendar, in every time zone that there is."""

from datetime import datetime
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.values import calendar
from engine.values.calendar import PERIODS, SECOND, WEEKDAYS, Calendar, CalendarWindows

ZONES = sorted(available_timezones())
HOUR = 3600 * SECOND


def moment(text: str, zone: str = "UTC", fold: int = 0) -> int:
    """Unix microseconds of a local time."""
    local = datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold)
    return int(local.timestamp() * SECOND)


def window(period: str, zone: str, now: str, **options: str) -> tuple[str, str]:
    """The local times at which the window of a local time begins and ends."""
    rule = Calendar(period, zone, **options)
    start, end = rule.window(moment(now, zone))
    return rule.local_time(start), rule.local_time(end)


WINDOWS = """
day UTC 2026-02-28T23:59:59 2026-02-28T00:00+00:00 2026-03-01T00:00+00:00
month UTC 2024-02-29T12:00 2024-02-01T00:00+00:00 2024-03-01T00:00+00:00
month UTC 2026-12-31T23:00 2026-12-01T00:00+00:00 2027-01-01T00:00+00:00
month Europe/Vienna 2026-03-10 2026-03-01T00:00+01:00 2026-04-01T00:00+02:00
week Europe/Vienna 2026-03-29T12:00 2026-03-23T00:00+01:00 2026-03-30T00:00+02:00
week UTC 2026-11-23 2026-11-23T00:00+00:00 2026-11-30T00:00+00:00
# The clocks change by half an hour, and at 2 o'clock.
day Australia/Lord_Howe 2026-04-05T12:00 2026-04-05T00:00+11:00 2026-04-06T00:00+10:30
# Midnight is skipped: the day begins at 1 o'clock.
day Africa/Cairo 2023-04-28T12:00 2023-04-28T01:00+03:00 2023-04-29T00:00+03:00
# Half of the first hour is skipped: the day begins at 0:30, where 23:30 was.
day America/Toronto 1919-03-31T12:00 1919-03-31T00:30-04:00 1919-04-01T00:00-04:00
# Midnight occurs twice: the day begins at the first, and has 25 hours.
day America/St_Johns 2008-11-02T12:00 2008-11-02T00:00-02:30 2008-11-03T00:00-03:30
# A day that there was not.
day Pacific/Apia 2011-12-29T12:00 2011-12-29T00:00-10:00 2011-12-31T00:00+14:00
month Asia/Kathmandu 2026-11-23 2026-11-01T00:00+05:45 2026-12-01T00:00+05:45
"""
"""The period, the time zone, a local time, and the start and the end of its window."""


@pytest.mark.parametrize(
    ("period", "zone", "now", "start", "end"),
    [line.split() for line in WINDOWS.splitlines() if line[:1] not in ("", "#")],
)
def test_a_window_begins_and_ends_at_local_midnight(period, zone, now, start, end):
    assert window(period, zone, now) == (start, end)


def test_an_hour_that_occurs_again_before_midnight_is_in_the_day_that_had_begun():
    rule = Calendar("day", "America/St_Johns")
    again = moment("2008-11-01T23:30", "America/St_Johns", fold=1)
    assert rule.local_time(rule.window(again)[0]) == "2008-11-02T00:00-02:30"


@pytest.mark.parametrize(
    ("first", "start"),
    [("monday", "2026-11-16"), ("sunday", "2026-11-22"), ("saturday", "2026-11-21")],
)
def test_a_week_begins_on_its_first_day(first, start):
    assert window("week", "UTC", "2026-11-22", week_starts=first)[0][:10] == start


@given(
    st.sampled_from(list(PERIODS)),
    st.sampled_from(ZONES),
    st.sampled_from(WEEKDAYS),
    st.integers(moment("1900-01-01"), moment("2110-01-01")),
)
def test_windows_have_neither_gaps_nor_overlaps(period, zone, week_starts, now):
    rule = Calendar(period, zone, week_starts)
    start, end = rule.window(now)
    assert start <= now < end
    assert rule.window(start) == rule.window(end - 1) == (start, end)
    assert rule.window(end)[0] == end
    assert rule.window(start - 1)[1] == start


@given(st.sampled_from(ZONES), st.integers(moment("1972-01-01"), moment("2037-01-01")))
def test_the_first_moment_of_a_day_is_its_first(zone, now):
    start, _ = Calendar("day", zone).window(now)
    before, first = (
        datetime.fromtimestamp(second, ZoneInfo(zone)).date()
        for second in (start // SECOND - 1, start // SECOND)
    )
    assert before < first


@given(
    st.sampled_from(list(PERIODS)),
    st.sampled_from(ZONES),
    st.lists(st.integers(moment("2020-01-01"), moment("2030-01-01")), min_size=1, max_size=9),
)
def test_windows_that_are_kept_are_those_of_the_present(period, zone, moments):
    windows, rule = CalendarWindows(), Calendar(period, zone)
    for now in moments:
        before, start, end, after = windows.around(rule, now)
        assert (start, end) == rule.window(now)
        assert (before, after) == (rule.window(start - 1)[0], rule.window(end)[1])


def test_a_window_is_calculated_once(monkeypatch):
    windows, rule, now = CalendarWindows(), Calendar("month"), moment("2026-11-23")
    first = windows.around(rule, now)
    monkeypatch.setattr(calendar.Calendar, "window", None)
    assert windows.around(rule, now + HOUR) == first


@pytest.mark.parametrize(
    "name", ["Europe/Wien", "europe/vienna/", "../UTC", "/etc/localtime", "", "a\0"]
)
def test_an_unknown_time_zone_is_refused(name):
    with pytest.raises(ValueError, match="is not a time zone like Europe/Vienna"):
        Calendar("day", name)


def test_a_time_zone_is_read_once(monkeypatch):
    rules = [Calendar("day", name) for name in ZONES[:20]]
    monkeypatch.setattr(calendar, "ZoneInfo", None)
    assert all(rule.local_time(0).startswith("19") for rule in rules)


@pytest.mark.parametrize(("period", "week_starts"), [("year", "monday"), ("day", "montag")])
def test_another_period_or_day_is_refused(period, week_starts):
    with pytest.raises(ValueError, match="is not one of"):
        Calendar(period, "UTC", week_starts)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (Calendar("month"), "month"),
        (Calendar("day", "Europe/Vienna"), "day in Europe/Vienna"),
        (Calendar("week", "UTC", "sunday"), "week from sunday"),
    ],
)
def test_a_calendar_as_text(rule, text):
    assert str(rule) == text
