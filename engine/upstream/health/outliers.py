"""Passive ejection: which targets of a group are worse than the others.

The law, for targets that are in and what happened within the `window` of their `ejection`:

    errors   `requests` attempts or more ended, a share of `errors` or more of them failed, and
             another target fails half as often or less
    latency  `requests` or more were answered, and the typical time to the first content is
             `latency` times the median of at least three comparable targets, or more
    silence  three requests or more wait, and none has ended for `latency` times that median (of
             one target or more): it accepts requests and does not answer

At most the share `max_out` of a group is out at once, but always one may be, and never all. The
worst go first. So a failure of all targets ejects none of them: none does better. A target that is
worse only than those that stay when others have left follows at the next judgement.

The typical time is the geometric mean, which a single slow answer does not spoil. A target is
compared with those that serve the same model under the same name, because others may be slower by
their nature.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from engine.config.health import EjectionConfig

_LEAST_EXCESS = 0.1
"""Seconds above the median that a slow target has at least."""
_LEAST_SILENCE = 1.0
_LEAST_WAITING = 3
_LEAST_COMPARABLE = 3
_UNKNOWN = 0.0


class Activity(NamedTuple):
    """What happened at a target within the window. `latency` is the typical time of the `answers`
    to the first content; `waiting` requests wait for theirs now, and none has ended for `silent`
    seconds."""

    answers: int = 0
    failures: int = 0
    latency: float = 0.0
    waiting: int = 0
    silent: float = 0.0

    @property
    def error_rate(self) -> float:
        """The share of the attempts that failed."""
        return self.failures / ((self.answers + self.failures) or 1)


@dataclass(frozen=True, slots=True)
class Member:
    """A target of a group: `ejection` as configured, None for one that is never ejected.

    `out` is whether it is asked last already. Members with equal `kind` are comparable by latency.
    """

    activity: Activity
    ejection: EjectionConfig | None
    out: bool = False
    kind: Hashable = None


class Ejection(NamedTuple):
    """The position of a member to be ejected, and the reason: silence, errors or latency."""

    position: int
    reason: str


class _Finding(NamedTuple):
    """Findings are sorted by how bad they are: by rank, then by amount."""

    rank: int
    amount: float
    position: int
    reason: str


class _Standard:
    """What the members that are in do, to compare each of them with."""

    def __init__(self, members: Sequence[Member]) -> None:
        self.positions = {index for index, member in enumerate(members) if not member.out}
        self._members = members
        self._times: dict[Hashable, list[float]] = {}
        self._best_first = sorted(
            self.positions, key=lambda index: _error_rate(members[index]), reverse=True
        )  # the best one is at the end
        for index in self.positions:
            if _has_time(members[index]):
                self._times.setdefault(members[index].kind, []).append(_latency(members[index]))
        for times in self._times.values():
            times.sort()

    def remove(self, index: int) -> None:
        """A member leaves."""
        member = self._members[index]
        self.positions.remove(index)
        if _has_time(member):
            times = self._times[member.kind]
            del times[bisect_left(times, _latency(member))]

    @property
    def error_rate(self) -> float:
        """The lowest error rate, with one member or more."""
        while self._best_first[-1] not in self.positions:
            self._best_first.pop()
        return _error_rate(self._members[self._best_first[-1]])

    def times(self, kind: Hashable) -> Sequence[float]:
        """The typical times of the targets of a kind with enough answers, sorted."""
        return self._times.get(kind, ())


def ejections(members: Sequence[Member]) -> list[Ejection]:
    """The members to be ejected now, the worst first. A member that others made look bad stays if
    they left before it."""
    standard = _Standard(members)
    findings = [_finding(members[index], index, standard) for index in standard.positions]
    result = []
    for position in (each.position for each in sorted(filter(None, findings), reverse=True)):
        member, out = members[position], len(members) - len(standard.positions)
        finding = _finding(member, position, standard)
        if finding is not None and _may_leave(member, out, len(members)):
            standard.remove(position)
            result.append(Ejection(position, finding.reason))
    return result


def most_out(size: int, max_out: float) -> int:
    """How many targets of a group of this size may be out at once."""
    if size < 2 or max_out <= 0:
        return 0
    return min(size - 1, max(1, int(size * max_out)))


def _may_leave(member: Member, out: int, size: int) -> bool:
    return member.ejection is not None and out < most_out(size, member.ejection.max_out)


def _finding(member: Member, index: int, standard: _Standard) -> _Finding | None:
    """The worst that is wrong with a member that is in, None if nothing is."""
    activity, ejection = member.activity, member.ejection
    if ejection is None:
        return None
    times = standard.times(member.kind) if ejection.latency > 0 else ()
    middle = _median(times) if times else 0.0
    if times and activity.waiting >= _LEAST_WAITING:
        bound = max(_LEAST_SILENCE, ejection.latency * middle)
        if activity.silent >= bound:
            return _Finding(2, activity.silent, index, "silence")
    rate = activity.error_rate
    if _has_failed(activity, ejection) and standard.error_rate <= rate / 2:
        return _Finding(1, rate, index, "errors")
    if activity.answers >= ejection.requests and len(times) >= _LEAST_COMPARABLE:
        bound = max(middle + _LEAST_EXCESS, ejection.latency * middle)
        if activity.latency >= bound:
            return _Finding(0, activity.latency / (middle or 1e-6), index, "latency")
    return None


def _has_failed(activity: Activity, ejection: EjectionConfig) -> bool:
    enough = activity.answers + activity.failures >= ejection.requests
    return enough and activity.failures > 0 and activity.error_rate >= ejection.errors


def _error_rate(member: Member) -> float:
    """The error rate of a target; of one with too few requests to know it, the best one."""
    activity = member.activity
    enough = activity.answers + activity.failures >= _least_requests(member)
    return activity.error_rate if enough else _UNKNOWN


def _has_time(member: Member) -> bool:
    """Whether its typical time is known, by enough answers."""
    return member.activity.answers >= _least_requests(member)


def _latency(member: Member) -> float:
    return member.activity.latency


def _least_requests(member: Member) -> int:
    return member.ejection.requests if member.ejection is not None else 1


def _median(times: Sequence[float]) -> float:
    """The median of sorted times."""
    half = len(times) // 2
    return times[half] if len(times) % 2 else (times[half - 1] + times[half]) / 2
