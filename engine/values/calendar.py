"""Windows of the calendar: days, weeks and months in a time zone.

A day begins at local midnight. Where a change of the clocks skips midnight, it begins at the
change; where midnight occurs twice, at the first. So windows have neither gaps nor overlaps, and
their length differs: 23 to 25 hours of a day, 28 to 31 days of a month. Times are Unix
microseconds.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo

from msgspec import Struct

SECOND = 1_000_000
PERIODS = {"day": 1.0, "week": 7.0, "month": 30.436875}
"""The periods and their average days."""
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_MIDNIGHT = time()
_NEXT_MONTH = timedelta(days=32)


class Calendar(Struct, frozen=True):
    """Consecutive windows of one period of PERIODS. `week_starts` is one of WEEKDAYS.

    ValueError for a time zone that the system does not know, or another period or day.
    """

    period: str
    time_zone: str = "UTC"
    week_starts: str = "monday"

    def __post_init__(self) -> None:
        for value, names in ((self.period, PERIODS), (self.week_starts, WEEKDAYS)):
            if value not in names:
                raise ValueError(f"'{value}' is not one of {', '.join(names)}")
        zone_of(self.time_zone)

    @property
    def _zone(self) -> ZoneInfo:
        return zone_of(self.time_zone)

    @property
    def seconds(self) -> float:
        """The average length of a window."""
        return PERIODS[self.period] * 86_400

    def window(self, now: int) -> tuple[int, int]:
        """Start and end of the window that contains `now`."""
        day = self._first_day(self._date(now // SECOND))
        start, end = self._start_of(day), self._start_of(self._next(day))
        while end <= now:  # midnight has occurred already, and occurs again
            day = self._next(day)
            start, end = end, self._start_of(self._next(day))
        return start, end

    def local_time(self, moment: int) -> str:
        """A time in this zone, in ISO 8601 with its offset, to the minute."""
        local = datetime.fromtimestamp(moment // SECOND, self._zone)
        return local.isoformat(timespec="minutes")

    def __str__(self) -> str:
        """As written in a limit: `month`, `week in Europe/Vienna from sunday`."""
        zone = "" if self.time_zone == "UTC" else f" in {self.time_zone}"
        is_default = self.period != "week" or self.week_starts == WEEKDAYS[0]
        return f"{self.period}{zone}" + ("" if is_default else f" from {self.week_starts}")

    def _first_day(self, day: date) -> date:
        """The first day of the window that contains a day."""
        if self.period == "month":
            return day.replace(day=1)
        if self.period == "week":
            return day - timedelta(days=(day.weekday() - WEEKDAYS.index(self.week_starts)) % 7)
        return day

    def _next(self, day: date) -> date:
        """The first day of the next window. `day` is the first of its window."""
        if self.period == "month":
            return (day + _NEXT_MONTH).replace(day=1)
        return day + timedelta(days=7 if self.period == "week" else 1)

    def _start_of(self, day: date) -> int:
        """When a day begins."""
        midnight = datetime.combine(day, _MIDNIGHT, self._zone)
        # If a clock change skips midnight, fold 0 is after the change, fold 1 before it (PEP 495).
        start, before = int(midnight.timestamp()), int(midnight.replace(fold=1).timestamp()) - 1
        while start - before > 1:
            middle = (start + before) // 2
            if self._date(middle) < day:
                before = middle
            else:
                start = middle
        return start * SECOND

    def _date(self, second: int) -> date:
        return datetime.fromtimestamp(second, self._zone).date()


class CalendarWindows:
    """Windows of calendars around the present, each calculated once."""

    def __init__(self) -> None:
        self._edges: dict[Calendar, tuple[int, int, int, int]] = {}

    def around(self, calendar: Calendar, now: int) -> tuple[int, int, int, int]:
        """Start of the previous window, start and end of the current one, end of the next one."""
        edges = self._edges.get(calendar)
        if edges is None or not edges[1] <= now < edges[2]:
            start, end = calendar.window(now)
            edges = calendar.window(start - 1)[0], start, end, calendar.window(end)[1]
            self._edges[calendar] = edges
        return edges


@cache  # ZoneInfo itself keeps eight, and would read another from its file again
def zone_of(name: str) -> ZoneInfo:
    """A time zone of the IANA database. Raises ValueError for an unknown name."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:  # KeyError: ZoneInfoNotFoundError
        raise ValueError(f"'{name}' is not a time zone like Europe/Vienna") from error
