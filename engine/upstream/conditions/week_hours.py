"""Hours of the days of a week, in a time zone: Monday to Friday, 08:00 to 18:00 in Vienna."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from msgspec import Struct

from engine.values.calendar import WEEKDAYS, zone_of


class WeekHours(Struct, frozen=True):
    """The time from the minute `start` of each of `days` (0 is Monday) up to, but without, the
    minute `end`; of the next day if that is not later. Minutes are those of the local clock."""

    start: int
    end: int
    days: frozenset[int]
    zone: ZoneInfo

    @classmethod
    def read(cls, options: Mapping[str, Any]) -> WeekHours:
        """The hours in a config: `from`, `to`, `days` and `time_zone`, each optional. Raises
        ValueError for hours that are empty, or an unknown time zone."""
        start, end = _minute(options.get("from", "00:00")), _minute(options.get("to", "24:00"))
        if start == end:
            raise ValueError("'from' and 'to' are the same time")
        days = frozenset(map(WEEKDAYS.index, options.get("days", WEEKDAYS)))
        return cls(start, end, days, zone_of(options.get("time_zone", "UTC")))

    def contains(self, now: float) -> bool:
        """Whether a time, in Unix seconds, is within these hours."""
        local = datetime.fromtimestamp(now, self.zone)
        day, minute = local.weekday(), 60 * local.hour + local.minute
        if self.start < self.end:
            return day in self.days and self.start <= minute < self.end
        if minute >= self.start:
            return day in self.days
        return minute < self.end and (day - 1) % 7 in self.days


def _minute(text: str) -> int:
    """The minute of a day of a text such as `08:30`."""
    hours, _, minutes = text.partition(":")
    return 60 * int(hours) + int(minutes)
