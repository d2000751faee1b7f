"""The state of a watched target, as metrics and operators see it, and the metrics of the health of
targets: their states, and how often they were ejected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from engine.upstream.health.target_health import TargetHealth
from engine.upstream.health.target_limits import ENOUGH, USED_UP, TargetLimits
from engine.values.metric import Collector, Sample, counter, gauge, target_label

STATES = ("in", "returning", "little left", "limited", "ejected", "failing")
HEALTH = gauge(
    "modelway_target_health",
    "upstream target",
    "Health of a target with an alternative, for all workers of the machine: 0 in, 1 returning "
    "slowly, 2 little left of a rate limit (asked after others of its group), 3 limited by a 429 "
    "or Retry-After, 4 ejected, 5 failing its probes. target as in modelway_breaker_state.",
    "livemax",
    is_fault=True,
)
EJECTIONS = counter(
    "modelway_target_ejections_total",
    "upstream target reason",
    "Ejections: of a target with more errors than others, a higher latency, or silence (requests "
    "wait and none is answered). target as in modelway_breaker_state.",
)


class WatchedTarget(NamedTuple):
    """The health of a target, and the limits of its vendor. `upstream` and `name` are its names in
    metrics."""

    health: TargetHealth
    limits: TargetLimits

    @property
    def upstream(self) -> str:
        return self.health.settings.upstream

    @property
    def name(self) -> str:
        return target_label(self.health.key)

    @property
    def ejections(self) -> Mapping[str, int]:
        """How often this worker ejected the target, by reason."""
        return self.health.ejections

    def level(self, now: float) -> int:
        """The state of the target, as an index of `STATES`."""
        health = self.health
        if health.is_failing(now):
            return STATES.index("failing")
        if health.is_ejected(now):
            return STATES.index("ejected")
        supply = self.limits.best_level(now)
        if supply != ENOUGH:
            return STATES.index("limited" if supply == USED_UP else "little left")
        return STATES.index("returning" if health.is_returning(now) else "in")

    def report(self, now: float) -> dict[str, str]:
        """The state of the target for operators, and its reason."""
        state, server = STATES[self.level(now)], self.health.server
        report = {"upstream": self.upstream, "target": self.name, "state": state}
        if state in ("ejected", "returning") and self.health.reason:
            report["reason"] = self.health.reason
        if state == "failing" and server is not None and server.reason:
            report["reason"] = server.reason
        return report


def health_collector(
    targets: Callable[[], Iterable[WatchedTarget]], clock: Callable[[], float]
) -> Collector:
    """The states of the targets that this worker uses, and the ejections that it decided.

    The ejections of targets with equal labels are one sample: `a/b` is the entry `a/b` as well as
    the model `b` of the entry `a`."""

    def collect() -> Iterator[Sample]:
        now = clock()
        ejections: Counter[tuple[str, ...]] = Counter()
        for target in targets():
            labels = (target.upstream, target.name)
            yield HEALTH, labels, target.level(now)
            for reason, count in target.ejections.items():
                if count:
                    ejections[*labels, reason] += count
        for labels_of_reason, count in ejections.items():
            yield EJECTIONS, labels_of_reason, count

    return collect
