"""Rate limits that responses report: for how long a target is asked last, before a 429 happens.

The law, for each limit of a response:

    a share of more than `reserve` remains     not at all
    less                                       until twice the reserve remains, if the limit refills
                                               evenly until its reset, as vendors' buckets do
    less, and the reset cannot be read         5 seconds
    429, or another failure with Retry-After   as long as that says; without it 5 seconds


Of several limits the longest time counts, but at most 60 seconds: a vendor's figure may be wrong,
and so a limit per day is checked again every minute. No request is refused: a target that is asked
last is still asked if no other one is left.

Invalid values (a limit of 0, more left than the limit, a negative number, a text) are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.dialects.interface.rate_limits import RateLimitHeaders, Report, read_any_reset

MAX_SECONDS = 60.0
"""The longest time in seconds for which a target is asked last."""
DEFAULT_SECONDS = 5.0
"""Seconds for which a target is asked last if the response names no time."""


def seconds_last(
    limits: RateLimitHeaders | None,
    headers: Sequence[tuple[str, str]],
    reserve: float,
    now: float,
) -> float:
    """Seconds for which a target is asked last after a successful response, by its limits; 0 if
    enough is left. `now` is in Unix seconds."""
    reports = limits.reports(headers) if limits is not None else ()
    return max((_until_refilled(report, reserve, now) for report in reports), default=0.0)


def seconds_after_failure(failure: str, retry_after: float | None) -> float:
    """Seconds for which a target is asked last after a failure of this class (see `retry`); 0 if it
    is not an overload. `retry_after` are the seconds that its response asked to wait, or None."""
    if retry_after is None:
        return DEFAULT_SECONDS if failure == "429" else 0.0
    return min(retry_after, MAX_SECONDS)


def _until_refilled(report: Report, reserve: float, now: float) -> float:
    limit, remaining, text = report
    if remaining is None or limit == 0 or (limit is not None and remaining > limit):
        return 0.0
    if remaining > (0 if limit is None else reserve * limit):
        return 0.0
    reset = read_any_reset(text, now)
    if reset is None:
        return DEFAULT_SECONDS
    if limit is not None and remaining < limit:
        # Without a reserve, one unit is enough.
        enough = max(2 * reserve * limit, remaining + 1)
        reset *= min(1.0, (enough - remaining) / (limit - remaining))
    return min(reset, MAX_SECONDS)
