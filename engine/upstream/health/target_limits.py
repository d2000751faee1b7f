"""What is left of a target's rate limits, for each of its credentials, as all workers of a machine
know it.

    nearly used up   by what its responses say of their limits: other targets of its group and other
                     credentials come first
    used up          a 429, or a failure with Retry-After: the targets of all groups come first

A response may say anything, so what it says never moves a request to a fallback model. A target
whose credentials differ has the state of the best of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from engine.credentials.interface.credential import LiveCredential
from engine.dialects.interface.rate_limits import RateLimitHeaders
from engine.upstream import retry
from engine.upstream.health.rate_limits import LONGEST, seconds_after_failure, seconds_last
from engine.upstream.target_state import OpenAttempt
from engine.values.machine_state import MachineState, SharedNumber

ENOUGH, NEARLY, USED_UP = range(3)


class _Times(NamedTuple):
    """Until when a credential is nearly used up, and until when it is used up."""

    nearly: SharedNumber
    used_up: SharedNumber


class LimitsGroup:
    """The limits of targets that take each other's place; `members` returns them as they are now.

    A request asks each of its targets in turn whether others come first, all at one moment: the
    members are looked at once for all of them.
    """

    def __init__(self, members: Callable[[], Iterable[TargetLimits]]) -> None:
        self._members = members
        self._moment: float | None = None
        self._has_enough = False

    def has_enough(self, now: float) -> bool:
        """Whether one of the targets has enough left."""
        if now != self._moment:
            self._has_enough = any(each.best_level(now) == ENOUGH for each in self._members())
            self._moment = now
        return self._has_enough

    def changed(self) -> None:
        """The limits of a target are others than before."""
        self._moment = None


class TargetLimits:
    """The limits of a target with this `name`. `formats` are those in which its responses report
    limits, `group` has the limits of the targets that take its place.

    An observer of attempts. `unix_clock` gives Unix seconds; other times are monotonic.
    """

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

    @cached_property
    def _times(self) -> Mapping[LiveCredential | None, _Times]:
        """By credential; opened at its first use, as a config may have many targets."""
        machine, name = self._machine, self._name
        return {
            credential: _Times(
                machine.number(f"limits/{name}/{index}/nearly"),
                machine.number(f"limits/{name}/{index}/used-up"),
            )
            for index, credential in enumerate(self._credentials)
        }

    def level(self, credential: LiveCredential | None, now: float) -> int:
        """ENOUGH, NEARLY or USED_UP for one of its credentials, None without any."""
        times = self._times[credential]
        if now < times.used_up.value <= now + LONGEST:
            return USED_UP
        if now < times.nearly.value <= now + LONGEST:
            return NEARLY
        return ENOUGH

    def best_level(self, now: float) -> int:
        """The level of the credential with most left."""
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
        """Nothing is known yet."""

    def answered(self, attempt: OpenAttempt, /) -> None:
        """Read what its headers say of limits."""
        self._read(attempt)

    def failed(self, attempt: OpenAttempt, /) -> None:
        """Read what its headers say of limits, and for how long a refusal holds."""
        if attempt.first_content is not None:
            return  # it was answered, and broke off
        self._read(attempt)
        headers = dict(attempt.headers)
        retry_after = retry.retry_delay(
            headers.get("retry-after-ms"), headers.get("retry-after"), self._unix_clock()
        )
        if seconds := seconds_after_failure(attempt.failure, retry_after):
            self._times[attempt.credential].used_up.value = self._clock() + seconds
            self._group.changed()

    def ended(self, attempt: OpenAttempt, /) -> None:
        """Nothing more is known."""

    def _read(self, attempt: OpenAttempt) -> None:
        headers, reserve, now = attempt.headers, self._reserve, self._unix_clock()
        seconds = max(
            (seconds_last(each, headers, reserve, now) for each in self._formats), default=0.0
        )
        number = self._times[attempt.credential].nearly
        if seconds or number.value:
            number.value = self._clock() + seconds if seconds else 0.0
            self._group.changed()
