"""The state of a watched target, as metrics and operators see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from engine.upstream.health.target_health import TargetHealth
from engine.upstream.health.target_limits import ENOUGH, USED_UP, TargetLimits
from engine.values.metric import target_label

STATES = ("in", "returning", "little left", "limited", "ejected", "failing")


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
