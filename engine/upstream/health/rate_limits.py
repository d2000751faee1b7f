"""Rate limits that responses report: for how long a target is asked last, before a 429 happens.

The law, for each limit of a response:

    a share of more than `reserve` remains     not at all
    less                                       until twice the reserve remains, if the limit refills
                                               evenly until its reset, as vendors' buckets do
    less, and the reset cannot be read         5 seconds
    429, or another failure with Retry-After   as long as that says; without it 5 seconds

Of several limits the longest time counts, and never more than 60 seconds: a vendor's figure may be
wrong, and a window of a day is looked at again each minute. To be asked last costs no request: a
target is still asked where no other is left.

Values that make no sense (a limit of 0, more left than the limit, a negative number, a text) say
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.dialects.interface.rate_limits import RateLimitHeaders, Report, read_any_reset

LONGEST = 60.0
"""Seconds after which a target is asked again in any case."""
UNKNOWN = 5.0
"""Seconds for which it is asked last where nothing says for how long."""


def seconds_last(
    limits: RateLimitHeaders | None,
    headers: Sequence[tuple[str, str]],
    reserve: float,
    now: float,
) -> float:
    """Seconds for which the target of a response that is no failure is asked last; 0 for one with
    enough left. `now` is in Unix seconds."""
    reports = limits.reports(headers) if limits is not None else ()
    return max((_until_refilled(report, reserve, now) for report in reports), default=0.0)


def seconds_after_failure(failure: str, retry_after: float | None) -> float:
    """Seconds for which a target is asked last after a failure of this class (see `retry`), with
    the seconds that its response asked to wait, or None; 0 after a failure that is no overload."""
    if retry_after is None:
        return UNKNOWN if failure == "429" else 0.0
    return min(retry_after, LONGEST)


def _until_refilled(report: Report, reserve: float, now: float) -> float:
    limit, remaining, text = report
    if remaining is None or limit == 0 or (limit is not None and remaining > limit):
        return 0.0
    if remaining > (0 if limit is None else reserve * limit):
        return 0.0
    reset = read_any_reset(text, now)
    if reset is None:
        return UNKNOWN
    if limit is not None and remaining < limit:
        # Without a reserve it is asked as soon as the first of the limit is back.
        enough = max(2 * reserve * limit, remaining + 1)
        reset *= min(1.0, (enough - remaining) / (limit - remaining))
    return min(reset, LONGEST)
