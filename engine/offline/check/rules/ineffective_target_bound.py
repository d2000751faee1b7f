"""A target whose bound has no effect, because that of its upstream is not larger."""

from __future__ import annotations

from engine.config.models import target_paths
from engine.offline.check.audit import AuditCase
from engine.values.units import format_count


def check(case: AuditCase) -> None:
    config = case.config
    placed = [pair for model in config.models.values() for pair in model.placed_targets]
    placed += [pair for route in config.routes for pair in target_paths(route.at, route.to)]
    for at, target in placed:
        bound = config.upstreams[target.upstream].max_in_flight
        if bound is not None and (target.max_in_flight or 0) >= bound:
            message = f"max_in_flight {target.max_in_flight} is never reached"
            requests = format_count(bound, "request")
            hint = f"upstream '{target.upstream}' gets {requests} at one time in all"
            case.warn((*at, "max_in_flight"), "MW441", message, hint)
