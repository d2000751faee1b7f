"""Passive ejection: which targets of a group are worse than the others.

The law, for targets that are not ejected, by their counts within the `window` of their `ejection`:


    errors   `requests` attempts or more ended, a share of `errors` or more of them failed, and
             another target fails half as often or less
    latency  `requests` or more were answered, and the typical time to the first content is
             `latency` times the median of at least three comparable targets, or more
    silence  three requests or more wait, and none has ended for `latency` times that median (of
             one target or more): it accepts requests and does not answer


At most the share `max_out` of a group is ejected at once, but always one may be, and never all. The
worst are ejected first. A failure of all targets ejects none, because none does better. A target
that is worse only compared with the targets that remain is ejected at the next judgement.

The typical time is the geometric mean, on which a single slow answer has little effect. A target is
compared with those that serve the same model under the same name, because other models differ in
speed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from msgspec import Struct

from engine.config.health import EjectionConfig

_MIN_EXCESS = 0.1
"""The smallest difference to the median, in seconds, of a target that counts as slow."""
_MIN_SILENCE = 1.0
_MIN_WAITING = 3
_MIN_COMPARABLE = 3
_UNKNOWN = 0.0


class Activity(NamedTuple):
    """The counts of a target within the window. `latency` is the typical time of its `answers` to
    the first content. `waiting` requests wait for theirs now, and none has ended for `silent`
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


class Member(Struct, frozen=True):
    """A target of a group: `ejection` as configured, None for one that is never ejected.

    `out`: it is asked last already. Members with equal `kind` are comparable by latency.
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
    """Why a member is to be ejected. Findings are ordered by severity: rank, then amount."""

    rank: int
    amount: float
    position: int
    reason: str


class _Baseline:
    """The error rates and latencies of the members that are not ejected, for comparison."""

    def __init__(self, members: Sequence[Member]) -> None:
        self.positions = {index for index, member in enumerate(members) if not member.out}
        self._members = members
        self._times: dict[Hashable, list[float]] = {}
        self._best_first = sorted(
            self.positions, key=lambda index: _error_rate(members[index]), reverse=True
        )  # the lowest error rate is at the end
        for index in self.positions:
            if _has_time(members[index]):
                self._times.setdefault(members[index].kind, []).append(_latency(members[index]))
        for times in self._times.values():
            times.sort()

    def remove(self, index: int) -> None:
        """Remove an ejected member."""
        member = self._members[index]
        self.positions.remove(index)
        if _has_time(member):
            times = self._times[member.kind]
            del times[bisect_left(times, _latency(member))]

    @property
    def error_rate(self) -> float:
        """The lowest error rate. There must be a member."""
        while self._best_first[-1] not in self.positions:
            self._best_first.pop()
        return _error_rate(self._members[self._best_first[-1]])

    def times(self, kind: Hashable) -> Sequence[float]:
        """The typical times of the targets of a kind with enough answers, sorted."""
        return self._times.get(kind, ())


def ejections(members: Sequence[Member]) -> list[Ejection]:
    """The members to be ejected now, the worst first. Each is compared with the members that remain
    after the ejections before it."""
    baseline = _Baseline(members)
    findings = [_finding(members[index], index, baseline) for index in baseline.positions]
    result = []
    for position in (finding.position for finding in sorted(filter(None, findings), reverse=True)):
        member, out = members[position], len(members) - len(baseline.positions)
        finding = _finding(member, position, baseline)
        if finding is not None and _may_eject(member, out, len(members)):
            baseline.remove(position)
            result.append(Ejection(position, finding.reason))
    return result


def max_ejected(size: int, max_out: float) -> int:
    """How many targets of a group of this size may be ejected at once."""
    if size < 2 or max_out <= 0:
        return 0
    return min(size - 1, max(1, int(size * max_out)))


def _may_eject(member: Member, out: int, size: int) -> bool:
    return member.ejection is not None and out < max_ejected(size, member.ejection.max_out)


def _finding(member: Member, index: int, baseline: _Baseline) -> _Finding | None:
    """The most severe reason to eject a member, None without any."""
    activity, ejection = member.activity, member.ejection
    if ejection is None:
        return None
    times = baseline.times(member.kind) if ejection.latency > 0 else ()
    middle = _median(times) if times else 0.0
    if times and activity.waiting >= _MIN_WAITING:
        bound = max(_MIN_SILENCE, ejection.latency * middle)
        if activity.silent >= bound:
            return _Finding(2, activity.silent, index, "silence")
    rate = activity.error_rate
    if _has_failed(activity, ejection) and baseline.error_rate <= rate / 2:
        return _Finding(1, rate, index, "errors")
    if activity.answers >= ejection.requests and len(times) >= _MIN_COMPARABLE:
        bound = max(middle + _MIN_EXCESS, ejection.latency * middle)
        if activity.latency >= bound:
            return _Finding(0, activity.latency / (middle or 1e-6), index, "latency")
    return None


def _has_failed(activity: Activity, ejection: EjectionConfig) -> bool:
    enough = activity.answers + activity.failures >= ejection.requests
    return enough and activity.failures > 0 and activity.error_rate >= ejection.errors


def _error_rate(member: Member) -> float:
    """The error rate of a member; 0 with fewer requests than `ejection.requests`."""
    activity = member.activity
    enough = activity.answers + activity.failures >= _min_requests(member)
    return activity.error_rate if enough else _UNKNOWN


def _has_time(member: Member) -> bool:
    """Whether a member has enough answers for its typical time."""
    return member.activity.answers >= _min_requests(member)


def _latency(member: Member) -> float:
    return member.activity.latency


def _min_requests(member: Member) -> int:
    return member.ejection.requests if member.ejection is not None else 1


def _median(times: Sequence[float]) -> float:
    """The median of sorted times."""
    half = len(times) // 2
    return times[half] if len(times) % 2 else (times[half - 1] + times[half]) / 2
