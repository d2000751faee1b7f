"""The rest of a target's rate limits, for each of its credentials, shared by the workers of a
machine.

    nearly used up   by the limits in its response headers: other targets of its group and other
                     credentials come first
    used up          a 429, or a failure with Retry-After: the targets of all groups come first

Response headers may be wrong, so they never move a request to a fallback model. A target whose
credentials differ has the state of the best one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from engine.credentials.interface.credential import LiveCredential
from engine.dialects.interface.rate_limits import RateLimitHeaders
from engine.upstream import retry
from engine.upstream.health.rate_limits import MAX_SECONDS, seconds_after_failure, seconds_last
from engine.upstream.target_state import (
    NEARLY_UNTIL,
    USED_UP_UNTIL,
    OpenAttempt,
    name_on_machine,
)
from engine.values.machine_state import MachineState, SharedNumber

ENOUGH, NEARLY, USED_UP = range(3)


class _Times(NamedTuple):
    """Until when a credential is nearly used up, and until when it is used up."""

    nearly: SharedNumber
    used_up: SharedNumber


class LimitsGroup:
    """The limits of targets that can replace each other: `members` are the current ones.

    The result of `has_enough` is cached for one moment, because a request asks each of its targets
    at the same moment whether others come first.
    """

    __slots__ = ("_has_enough", "_moment", "members")

    def __init__(self, members: Sequence[TargetLimits]) -> None:
        self.members = members
        self._moment: float | None = None
        self._has_enough = False

    def has_enough(self, now: float) -> bool:
        """Whether one of the targets has enough left."""
        if now != self._moment:
            self._has_enough = any(each.best_level(now) == ENOUGH for each in self.members)
            self._moment = now
        return self._has_enough

    def changed(self) -> None:
        """Clear the cached result: the limits of a target have changed."""
        self._moment = None


class TargetLimits:
    """The limits of a target, an observer of its attempts. `formats` are those in which its
    responses report limits, `group` has the limits of the targets that can replace it. `unix_clock`
    gives Unix seconds; other times are monotonic.
    """

    __slots__ = (
        *("_clock", "_credentials", "_formats", "_group", "_machine", "_name", "_opened"),
        *("_reserve", "_unix_clock"),
    )

    def __init__(
        self,
        name: str,
        machine: MachineState,
        credentials: Sequence[LiveCredential],
        *,
        reserve: float,
        formats: Sequence[RateLimitHeaders],
        group: LimitsGroup,
        unix_clock: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._reserve = reserve
        self._formats = formats
        self._group = group
        self._unix_clock = unix_clock
        self._clock = clock
        self._machine = machine
        self._name = name
        self._credentials: Sequence[LiveCredential | None] = credentials or [None]
        self._opened: Mapping[LiveCredential | None, _Times] = {}

    @property
    def _times(self) -> Mapping[LiveCredential | None, _Times]:
        """The shared times by credential, opened at their first use: a config may have many targets
        that are never used."""
        if not self._opened:
            self._opened = {
                credential: self._times_of(index)
                for index, credential in enumerate(self._credentials)
            }
        return self._opened

    def _times_of(self, index: int) -> _Times:
        name = f"credential/{index}/{self._name}" if index else name_on_machine(self._name)
        nearly, used_up = (
            self._machine.number(name, column) for column in (NEARLY_UNTIL, USED_UP_UNTIL)
        )
        return _Times(nearly, used_up)

    def level(self, credential: LiveCredential | None, now: float) -> int:
        """ENOUGH, NEARLY or USED_UP for a credential; None for a target without credentials."""
        times = self._times[credential]
        if now < times.used_up.value <= now + MAX_SECONDS:
            return USED_UP
        if now < times.nearly.value <= now + MAX_SECONDS:
            return NEARLY
        return ENOUGH

    def best_level(self, now: float) -> int:
        """The level of the credential with the most left."""
        level = USED_UP
        for credential in self._times:
            level = min(level, self.level(credential, now))
            if level == ENOUGH:
                break
        return level

    def asked_last(self, now: float) -> bool:
        """Whether other targets come first."""
        level = self.best_level(now)
        if level == NEARLY:
            return self._group.has_enough(now)
        return level == USED_UP

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
            headers.get("retry-after-ms"), headers.get("retry-after"), self._unix_clock()
        )
        if seconds := seconds_after_failure(attempt.failure, retry_after):
            self._times[attempt.credential].used_up.value = self._clock() + seconds
            self._group.changed()

    def ended(self, attempt: OpenAttempt, /) -> None:
        """Do nothing: limits are read from responses."""

    def _read(self, attempt: OpenAttempt) -> None:
        headers, reserve, now = attempt.headers, self._reserve, self._unix_clock()
        seconds = max(
            (seconds_last(each, headers, reserve, now) for each in self._formats), default=0.0
        )
        number = self._times[attempt.credential].nearly
        if seconds or number.value:
            number.value = self._clock() + seconds if seconds else 0.0
            self._group.changed()
