"""Passive ejection: which targets of a group are worse than the others.

The law, for targets that are in and what happened within the `window` of their `ejection`:

    errors   `requests` attempts or more ended, a share of `errors` or more of them failed, and
             another target fails half as often or less
    latency  `requests` or more were answered, and the typical time to the first content is
             `latency` times the median of at least three comparable targets, or more
    silence  three requests or more wait, and none has ended for `latency` times that median (of
             one target or more): it accepts requests and does not answer

At most the share `max_out` of a group is out at once, but always one may be, and never all. The
worst go first. So a failure of all targets ejects none of them: none does better.

The typical time is the geometric mean, which a single slow answer does not spoil. A target is
compared with those that serve the same model under the same name, because others may be slower by
their nature.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
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


def ejections(members: Sequence[Member]) -> list[Ejection]:
    """The members to be ejected now, the worst first."""
    out = {index for index, member in enumerate(members) if member.out}
    result = []
    while findings := [*_findings(members, out)]:
        allowed = [each for each in findings if _may_leave(members, out, each.position)]
        if not allowed:
            break
        worst = max(allowed)
        out.add(worst.position)
        result.append(Ejection(worst.position, worst.reason))
    return result


def most_out(size: int, max_out: float) -> int:
    """How many targets of a group of this size may be out at once."""
    if size < 2 or max_out <= 0:
        return 0
    return min(size - 1, max(1, int(size * max_out)))


def _may_leave(members: Sequence[Member], out: set[int], index: int) -> bool:
    ejection = members[index].ejection
    return ejection is not None and len(out) < most_out(len(members), ejection.max_out)


def _findings(members: Sequence[Member], out: set[int]) -> Iterator[_Finding]:
    """What is wrong with members that are in."""
    staying = [(i, m) for i, m in enumerate(members) if i not in out]
    typical = _typical_times(staying)
    for index, member in staying:
        if member.ejection is None:
            continue
        others = (other for i, other in staying if i != index)
        rate = member.activity.error_rate
        if _has_failed(member, member.ejection) and any(
            _error_rate(other) <= rate / 2 for other in others
        ):
            yield _Finding(1, rate, index, "errors")
        times = typical.get(member.kind)
        if times and member.ejection.latency > 0:
            yield from _late(member.activity, member.ejection, times, index)


def _has_failed(member: Member, ejection: EjectionConfig) -> bool:
    activity = member.activity
    enough = activity.answers + activity.failures >= ejection.requests
    return enough and activity.error_rate >= ejection.errors


def _error_rate(member: Member) -> float:
    """The error rate of a target; of one with too few requests to know it, the best one."""
    activity, ejection = member.activity, member.ejection
    least = ejection.requests if ejection is not None else 1
    return activity.error_rate if activity.answers + activity.failures >= least else _UNKNOWN


def _typical_times(
    staying: Sequence[tuple[int, Member]],
) -> Mapping[Hashable, Sequence[float]]:
    """The typical times of targets with enough answers, by kind."""
    times: dict[Hashable, list[float]] = {}
    for _, member in staying:
        least = member.ejection.requests if member.ejection is not None else 1
        if member.activity.answers >= least:
            times.setdefault(member.kind, []).append(member.activity.latency)
    return times


def _late(
    activity: Activity, ejection: EjectionConfig, times: Sequence[float], index: int
) -> Iterator[_Finding]:
    middle = median(times)
    if activity.waiting >= _LEAST_WAITING:
        bound = max(_LEAST_SILENCE, ejection.latency * middle)
        if activity.silent >= bound:
            yield _Finding(2, activity.silent, index, "silence")
    enough = activity.answers >= ejection.requests and len(times) >= _LEAST_COMPARABLE
    bound = max(middle + _LEAST_EXCESS, ejection.latency * middle)
    if enough and activity.latency >= bound:
        yield _Finding(0, activity.latency / (middle or 1e-6), index, "latency")
