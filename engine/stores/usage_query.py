"""What a caller asks of its usage: whose sums, grouped by what, of which days."""

from __future__ import annotations

from typing import NamedTuple

TAG = "tag:"
"""What the grouping by a tag begins with; its name follows."""
MAX_DAYS, DEFAULT_DAYS = 92, 30
MAX_REQUESTS, DEFAULT_REQUESTS = 100, 20


class UsageQuery(NamedTuple):
    """The sums of the caller's token, or `of_team` of its team, from the day `first` to the day
    `last`, both included, in days of UTC since 1970. `by` is "day", "model" or TAG and a name; ""
    asks for days and models."""

    first: int
    last: int
    by: str = ""
    of_team: bool = False
