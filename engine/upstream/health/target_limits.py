"""The rest of a target's rate limits, for each of its credentials, shared by the workers of a
machine; and for how long a target is asked last, before a 429 happens.

    nearly used up   by the limits in its response headers: other targets of its group and other
                     credentials come first
    used up          a 429, or a failure with Retry-After: the targets of all groups come first

Response headers may be wrong, so they never move a request to a fallback model. A target whose
credentials differ has the state of the best one.

How long, for each limit that a response reports:

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

import time
from collections.abc import Callable, Sequence

from msgspec import Struct

from engine.credentials.interface.credential import LiveCredential
from engine.dialects.interface.rate_limits import RateLimitHeaders, Report, read_any_reset
from engine.upstream.targets import retry
from engine.upstream.targets.target_state import (
    AFTER_GROUP,
    FIRST,
    LAST,
    NEARLY_UNTIL,
    USED_UP_UNTIL,
    OpenAttempt,
    name_on_machine,
)
from engine.values.machine_state import MachineState, SharedRecord

ENOUGH, NEARLY, USED_UP = FIRST, AFTER_GROUP, LAST
"""What is left of a limit, as the turn of a target with it."""
MAX_SECONDS = 60.0
"""The longest time in seconds for which a target is asked last."""
DEFAULT_SECONDS = 5.0
"""Seconds for which a target is asked last if the response names no time."""


class LimitsSettings(Struct, frozen=True):
    """What the targets of an upstream have in common. `formats` are those in which its responses
    report limits. `unix_clock` gives Unix seconds; other times are monotonic."""

    machine: MachineState
    credentials: Sequence[LiveCredential]
    reserve: float
    formats: Sequence[RateLimitHeaders]
    unix_clock: Callable[[], float] = time.time
    clock: Callable[[], float] = time.monotonic


class TargetLimits:
    """The limits of a target, an observer of its attempts."""

    __slots__ = ("_name", "_opened", "_settings")

    def __init__(self, name: str, settings: LimitsSettings) -> None:
        self._name = name
        self._settings = settings
        self._opened: Sequence[SharedRecord] = ()

    def _open(self) -> Sequence[SharedRecord]:
        """The records with the times of each credential, or of requests without one. They are
        opened at their first use: a config may have many targets that are never used."""
        settings, name = self._settings, self._name
        names = [name_on_machine(name)]
        names += [f"credential/{number}/{name}" for number in range(1, len(settings.credentials))]
        self._opened = tuple(map(settings.machine.record, names))
        return self._opened

    def _record(self, credential: LiveCredential | None) -> SharedRecord:
        """The record of a credential; of None for a target without credentials."""
        records = self._opened or self._open()
        return records[0 if len(records) == 1 else self._settings.credentials.index(credential)]

    def level(self, credential: LiveCredential | None, now: float, /) -> int:
        """ENOUGH, NEARLY or USED_UP for a credential; None for a target without credentials."""
        return _level(self._record(credential), now)

    def best_level(self, now: float) -> int:
        """The level of the credential with the most left."""
        level = USED_UP
        for record in self._opened or self._open():
            level = min(level, _level(record, now))
            if level == ENOUGH:
                break
        return level

    def turn(self, now: float, /) -> int:
        """AFTER_GROUP while it is nearly used up, LAST while it is used up."""
        return self.best_level(now)

    def began(self, attempt: OpenAttempt, /) -> None:
        """Do nothing: limits are read from responses."""

    def answered(self, attempt: OpenAttempt, /) -> None:
        """Read the limits in the response headers."""
        self._read(attempt)

    def failed(self, attempt: OpenAttempt, /) -> None:
        """Read the limits in the response headers, and Retry-After."""
        if attempt.first_content is not None:
            return  # `answered` has read them; the response broke off later
        self._read(attempt)
        headers = dict(attempt.headers)
        retry_after = retry.retry_delay(
            headers.get("retry-after-ms"), headers.get("retry-after"), self._settings.unix_clock()
        )
        if seconds := seconds_after_failure(attempt.failure, retry_after):
            until = self._settings.clock() + seconds
            self._record(attempt.credential).set_number(USED_UP_UNTIL, until)

    def ended(self, attempt: OpenAttempt, /) -> None:
        """Do nothing: limits are read from responses."""

    def _read(self, attempt: OpenAttempt) -> None:
        settings, headers = self._settings, attempt.headers
        reserve, now = settings.reserve, settings.unix_clock()
        seconds = max(
            (seconds_last(each, headers, reserve, now) for each in settings.formats), default=0.0
        )
        record = self._record(attempt.credential)
        if seconds or record.number(NEARLY_UNTIL):
            record.set_number(NEARLY_UNTIL, settings.clock() + seconds if seconds else 0.0)


def _level(record: SharedRecord, now: float) -> int:
    if now < record.number(USED_UP_UNTIL) <= now + MAX_SECONDS:
        return USED_UP
    if now < record.number(NEARLY_UNTIL) <= now + MAX_SECONDS:
        return NEARLY
    return ENOUGH


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
