"""Judges groups of targets once a second, by the counts of all workers of the machine.

Each worker judges the groups that it has used itself, so that no time is spent on others. One
worker at a time ejects: it looks again when it is its turn, because another one may have ejected
the same target. If a group becomes smaller, more than `max_out` may be out; the last of them is
taken back within a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from engine.upstream.health.outliers import ejections, most_out
from engine.upstream.health.target_health import TargetHealth
from engine.values.machine_state import MachineState

INTERVAL = 1.0
"""Seconds between two judgements."""


class Group:
    """Targets that take each other's place; `members` returns them as they are now."""

    def __init__(
        self, members: Callable[[], Sequence[TargetHealth]], machine: MachineState
    ) -> None:
        self._members = members
        self._machine = machine
        self._used = 0.0

    def use(self, now: float) -> None:
        """A target of the group was used."""
        self._used = now

    def judge(self, now: float) -> bool:
        """Eject the targets that are worse than the others. Whether there may be more to judge:
        none of them was used within the longest window."""
        targets = self._members()
        if ejections([target.member(now) for target in targets]):
            with self._machine.deciding():
                _eject(targets, now)
        _take_back(targets, now)
        windows = (target.config.window for target in targets)
        return now - self._used <= max(windows, default=0.0)


class Judge:
    """Judges the groups of one worker. `groups_of` returns those of a target, `used` are the
    targets that were used since the last judgement."""

    def __init__(
        self,
        used: set[TargetHealth],
        groups_of: Callable[[TargetHealth], Iterable[Group]],
    ) -> None:
        self._used = used
        self._groups_of = groups_of
        self._active: set[Group] = set()

    def step(self, now: float) -> None:
        """Judge what was used lately. Call it about once in `INTERVAL` seconds."""
        for target in self._used:
            for group in self._groups_of(target):
                group.use(now)
                self._active.add(group)
        self._used.clear()
        self._active = {group for group in self._active if group.judge(now)}


def _eject(targets: Sequence[TargetHealth], now: float) -> None:
    """Eject the targets that are worse than the others, as things are now."""
    members = [target.member(now) for target in targets]
    for index, reason in ejections(members):
        targets[index].eject(now, reason, members[index].activity)


def _take_back(targets: Sequence[TargetHealth], now: float) -> None:
    """Release targets where too many are ejected, those ejected last first."""
    ejected = [target for target in targets if target.is_ejected(now)]
    max_out = max((target.config.max_out for target in targets), default=0.0)
    surplus = len(ejected) - most_out(len(targets), max_out)
    if surplus > 0:
        ejected.sort(key=lambda target: target.ejected_until)
        for target in ejected[-surplus:]:
            target.release(now)
