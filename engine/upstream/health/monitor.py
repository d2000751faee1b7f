"""The health of all targets of one worker: observers of their attempts, and background tasks.

A target is watched if a request could go to another one instead, or with another credential. Other
targets have no overhead.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial

import gevent

from engine import dialects
from engine.config.health import ProbeConfig
from engine.config.upstreams import UpstreamConfig
from engine.dialects.interface.rate_limits import RateLimitHeaders
from engine.process.periodic import PeriodicTask
from engine.upstream.addresses.replicas import Replica
from engine.upstream.health.outlier_ejection import INTERVAL, Group, Judge
from engine.upstream.health.probes import Prober, ServerProbe
from engine.upstream.health.target_health import HealthSettings, TargetHealth
from engine.upstream.health.target_limits import LimitsSettings, TargetLimits
from engine.upstream.health.watched_target import WatchedTarget
from engine.upstream.targets.target import Target, Upstream
from engine.upstream.targets.target_groups import TargetGroup
from engine.upstream.targets.target_state import TargetState
from engine.values.machine_state import MachineState

_STOP_SECONDS = 0.1


Watchers = tuple[TargetHealth, TargetLimits]
"""The observers of a watched target, which are also its conditions."""


class _WatchedGroup:
    """The targets of a group that can replace each other. `members` are those of its current
    targets, by state; they come and go with the addresses."""

    __slots__ = ("group", "judged", "members")

    def __init__(self, group: TargetGroup, machine: MachineState) -> None:
        self.group = group
        self.members: Mapping[TargetState, Watchers] = {}
        self.judged = Group((), machine)

    def update(self, members: Mapping[TargetState, Watchers]) -> None:
        """Use the current members."""
        self.members = members
        self.judged.members = tuple(health for health, _ in members.values())


class HealthMonitor:
    """Watches the targets of one worker. `machine` is shared with the other workers."""

    def __init__(
        self,
        configs: Mapping[str, UpstreamConfig],
        upstreams: Mapping[str, Upstream],
        machine: MachineState,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._configs = configs
        self._machine = machine
        self._clock = clock
        self._used: set[TargetHealth] = set()
        self._watched: dict[TargetState, Watchers] = {}
        self._group_keys: set[tuple[TargetState, ...]] = set()
        self._settings: dict[str, tuple[HealthSettings, LimitsSettings]] = {}  # by upstream
        self._judge = Judge(self._used, partial(gevent.sleep, 0))
        self.probes: dict[tuple[str, str], ServerProbe] = {}
        self._prober = Prober((), machine, clock)
        for name, upstream in upstreams.items():
            if (config := configs[name].health) is not None:
                self._probe(upstream, config)
                if upstream.replicas is not None:
                    upstream.replicas.on_change(partial(self._probe, upstream, config))
        self._tasks: list[PeriodicTask] = []

    def watch(self, groups: Sequence[TargetGroup]) -> None:
        """Watch the targets of groups that a request asks one after another."""
        targets = [target for group in groups for target in group.configured]
        if len(targets) == 1:
            upstream = targets[0].upstream
            probed = self._configs[upstream.name].health is not None
            if upstream.replicas is None and len(upstream.credentials) < 2 and not probed:
                return
        for group in groups:
            key = tuple(sorted({target.state for target in group.configured}, key=id))
            if key not in self._group_keys:
                self._group_keys.add(key)
                self._add(group)

    def start(self) -> None:
        """Judge and probe in the background. Call it in the worker, after the fork."""
        self._tasks.append(PeriodicTask(self._judge_groups, INTERVAL))
        if any(config.health is not None for config in self._configs.values()):
            self._tasks.append(PeriodicTask(self._prober.step, 0.0))
        for task in self._tasks:
            task.start()

    def stop(self) -> None:
        """Stop the background tasks."""
        for task in self._tasks:
            task.stop(_STOP_SECONDS)
        self._prober.stop()

    def watched(self) -> Iterator[WatchedTarget]:
        """The watched targets that are probed or were used by this worker."""
        return (
            WatchedTarget(health, limits)
            for health, limits in list(self._watched.values())
            if health.is_open or health.server is not None
        )

    def report(self) -> list[dict[str, str]]:
        """The targets that are not in, for operators."""
        now = self._clock()
        return [target.report(now) for target in self.watched() if target.level(now)]

    def _add(self, group: TargetGroup) -> None:
        """Watch the targets of a group, also those that come later."""
        watched = _WatchedGroup(group, self._machine)
        self._update(watched)
        if any(target.upstream.replicas is not None for target in group.configured):
            group.on_change(partial(self._update, watched))

    def _update(self, group: _WatchedGroup) -> None:
        """Watch the current targets of a group."""
        current = {target.state: target for target in group.group.targets}
        former = group.members
        for state in former:
            if state not in current:
                self._leave(state, group.judged)
        for state, target in current.items():
            if state not in former:
                if state not in self._watched:
                    self._attach(target)
                health, _ = self._watched[state]
                health.groups += (group.judged,)
        group.update({state: self._watched[state] for state in current})

    def _leave(self, state: TargetState, group: Group) -> None:
        """Remove a target from a group. A target without groups is not watched any more."""
        watchers = self._watched[state]
        health, _ = watchers
        health.groups = tuple(each for each in health.groups if each is not group)
        if not health.groups:
            del self._watched[state]
            self._used.discard(health)
            state.observers = tuple(each for each in state.observers if each not in watchers)
            state.conditions = tuple(each for each in state.conditions if each not in watchers)
            state.limits = None

    def _attach(self, target: Target) -> None:
        """Observe the attempts at a target."""
        upstream, state = target.upstream, target.state
        of_health, of_limits = self._settings_of(upstream)
        first, second = target.entry or upstream.name, target.model or target.entry
        health = TargetHealth(
            state.name,
            of_health,
            server=self.probes.get((upstream.name, target.address)),
            kind=first if first == second else (first, second),
            key=state.key,
        )
        limits = TargetLimits(state.name, of_limits)
        watchers = self._watched[state] = health, limits
        state.observers += watchers
        state.conditions += watchers
        if len(upstream.credentials) > 1:
            state.limits = limits

    def _settings_of(self, upstream: Upstream) -> tuple[HealthSettings, LimitsSettings]:
        """What the targets of an upstream have in common."""
        name, machine = upstream.name, self._machine
        if name not in self._settings:
            config = self._configs[name]
            reserve, formats = config.rate_limits.reserve, _formats(upstream.dialect)
            self._settings[name] = (
                HealthSettings(name, machine, config.ejection, self._used),
                LimitsSettings(
                    machine, [*upstream.credentials], reserve, formats, clock=self._clock
                ),
            )
        return self._settings[name]

    def _probe(self, upstream: Upstream, config: ProbeConfig) -> None:
        """Probe the server of an upstream, or each of its current addresses."""
        levels = () if upstream.replicas is None else upstream.replicas.levels
        replicas: dict[str, Replica | None] = {
            str(replica.address): replica for level in levels for replica in level
        } or {"": None}
        for name, address in [key for key in self.probes if key[0] == upstream.name]:
            if address not in replicas:
                self._prober.remove(self.probes.pop((name, address)))
        for address, replica in replicas.items():
            if (upstream.name, address) not in self.probes:
                probe = ServerProbe(upstream, config, self._machine, self._clock, replica)
                self.probes[upstream.name, address] = probe
                self._prober.add(probe)

    def _judge_groups(self, _: float) -> float:
        self._judge.step(self._clock())
        return INTERVAL


@cache
def _formats(dialect: str) -> Sequence[RateLimitHeaders]:
    """The formats in which an upstream reports rate limits; those of all dialects for ""."""
    names = [dialect] if dialect in dialects.names() else dialects.names()
    formats = (dialects.get(name).rate_limits for name in names)
    return tuple(each for each in dict.fromkeys(formats) if each is not None)
