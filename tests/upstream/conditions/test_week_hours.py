"""Hours of the days of a week, by the local clock."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from engine.upstream.conditions.week_hours import WeekHours

NIGHT = {"from": "22:00", "to": "06:00", "days": ["friday"], "time_zone": "Europe/Vienna"}
OFFICE = {
    "from": "08:00",
    "to": "18:00",
    "days": ["monday", "tuesday", "wednesday", "thursday", "friday"],
    "time_zone": "Europe/Vienna",
}


@pytest.mark.parametrize(
    ("options", "moment", "expected"),
    [
        (OFFICE, "2026-06-05T08:00", True),  # a Friday
        (OFFICE, "2026-06-05T07:59", False),
        (OFFICE, "2026-06-05T17:59", True),
        (OFFICE, "2026-06-05T18:00", False),
        (OFFICE, "2026-06-06T12:00", False),
        (NIGHT, "2026-06-05T22:00", True),
        (NIGHT, "2026-06-06T05:59", True),  # it began on Friday
        (NIGHT, "2026-06-06T06:00", False),
        (NIGHT, "2026-06-05T05:00", False),  # it would have begun on Thursday
        (NIGHT, "2026-06-06T23:00", False),
        ({"days": ["sunday"]}, "2026-06-07T01:59", False),  # still Saturday in UTC
        ({"days": ["sunday"]}, "2026-06-07T02:00", True),
        # The hour that the clocks skip, and the one that they repeat.
        ({**OFFICE, "days": ["sunday"], "from": "02:00", "to": "03:00"}, "2026-03-29T03:10", False),
        ({**OFFICE, "days": ["sunday"], "from": "02:00", "to": "03:00"}, "2026-10-25T02:10", True),
    ],
)
def test_a_time_is_within_the_hours(options, moment, expected):
    local = datetime.fromisoformat(moment).replace(tzinfo=ZoneInfo("Europe/Vienna"))
    assert WeekHours.read(options).contains(local.timestamp()) is expected


def test_the_repeated_hour_is_within_them_twice():
    hours = WeekHours.read({"from": "02:00", "to": "03:00", "time_zone": "Europe/Vienna"})
    first = datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Vienna"))
    second = first.replace(fold=1)
    assert second.timestamp() - first.timestamp() == 3600
    assert hours.contains(first.timestamp())
    assert hours.contains(second.timestamp())


def test_hours_that_are_empty_and_zones_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match="are the same time"):
        WeekHours.read({"from": "08:00", "to": "08:00"})
    with pytest.raises(ValueError, match="'Europe/Wien' is not a time zone"):
        WeekHours.read({"time_zone": "Europe/Wien"})
