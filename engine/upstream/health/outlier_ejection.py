"""Ejects outliers from groups of targets once a second, by the counts of all workers of a machine.

Each worker judges only the groups that it has used. One worker at a time ejects, under a lock: it
judges again after it got the lock, because another one may have ejected the same target. If a group
becomes smaller, more than `max_out` may be ejected; the last ones are released within a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from engine.upstream.health.outliers import ejections, max_ejected
from engine.upstream.health.target_health import JudgedGroup, TargetHealth
from engine.values.machine_state import MachineState

INTERVAL = 1.0
"""Seconds between two judgements."""
_AT_ONCE = 50
"""The groups that are judged before requests continue."""


class Group:
    """Targets that can replace each other: `members` are the current ones."""

    __slots__ = ("_machine", "_used", "members")

    def __init__(self, members: Sequence[TargetHealth], machine: MachineState) -> None:
        self.members = members
        self._machine = machine
        self._used = 0.0

    def use(self, now: float) -> None:
        """Record that a target of the group was used."""
        self._used = now

    def judge(self, now: float) -> bool:
        """Eject the targets that are worse than the others. Returns whether the group is to be
        judged again: it was used within the longest window of its targets."""
        targets = self.members
        if not all(target.is_idle(now) for target in targets):
            if ejections([target.member(now) for target in targets]):
                with self._machine.deciding():
                    _eject(targets, now)
            _release_surplus(targets, now)
        windows = (target.settings.config.window for target in targets)
        return now - self._used <= max(windows, default=0.0)


class Judge:
    """Judges the groups of one worker. `used` are the targets that were used since the last
    judgement. `pause` lets requests continue."""

    def __init__(self, used: set[TargetHealth], pause: Callable[[], None] = lambda: None) -> None:
        self._used = used
        self._pause = pause
        self._active: set[JudgedGroup] = set()

    def step(self, now: float) -> None:
        """Judge the groups that were used lately. Call it about every `INTERVAL` seconds."""
        for target in self._used:
            for group in target.groups:
                group.use(now)
                self._active.add(group)
        self._used.clear()
        for number, group in enumerate(tuple(self._active), 1):
            if not group.judge(now):
                self._active.discard(group)
                self._forget(group.members)
            if number % _AT_ONCE == 0:
                self._pause()

    def _forget(self, targets: Iterable[TargetHealth]) -> None:
        """Free the windows of targets that belong to no active group."""
        for target in targets:
            if self._active.isdisjoint(target.groups):
                target.forget()


def _eject(targets: Sequence[TargetHealth], now: float) -> None:
    """Eject the targets that are worse than the others, by the current counts."""
    members = [target.member(now) for target in targets]
    for index, reason in ejections(members):
        targets[index].eject(now, reason, members[index].activity)


def _release_surplus(targets: Sequence[TargetHealth], now: float) -> None:
    """Release the targets beyond the share that may be ejected, the last ejected ones first."""
    ejected = [target for target in targets if target.is_ejected(now)]
    max_out = max((target.settings.config.max_out for target in targets), default=0.0)
    surplus = len(ejected) - max_ejected(len(targets), max_out)
    if surplus > 0:
        ejected.sort(key=lambda target: target.ejected_until)
        for target in ejected[-surplus:]:
            target.release(now)
