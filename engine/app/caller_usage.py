"""What `answer: usage` says, made when it is first asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from engine.app.worker_parts import Parts
from engine.callers.caller_usage import CallerUsage
from engine.callers.own_limits import OwnLimits
from engine.edge.answers.own_answer import UsageOf
from engine.values.caller import Caller


def usage_of(parts: Parts) -> UsageOf:
    """The usage of the callers of a worker."""

    @cache
    def caller_usage() -> CallerUsage:
        plan, services = parts.plan, parts.services
        rules = (rule for route in plan.routes for rule in route.guards.rules)
        limits = OwnLimits(rules, [*plan.config.models])
        sums, currency = services.usage_sums, services.currency
        return CallerUsage(limits, services.counters, sums, currency, services.clock)

    def usage(caller: Caller, days: int, of_team: bool) -> Mapping[str, Any]:
        return caller_usage()(caller, days, of_team)

    return usage
