"""What `answer: usage` and `answer: usage_requests` say, made when it is first asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from engine.app.routes.worker_parts import Parts
from engine.callers.caller_usage import CallerUsage
from engine.callers.limits.own_limits import OwnLimits
from engine.stores.usage_query import UsageQuery
from engine.values.caller import Caller


class LazyUsage:
    """The usage of the callers of a worker."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @cached_property
    def _usage(self) -> CallerUsage:
        plan, services = self._parts.plan, self._parts.services
        rules = (rule for route in plan.routes for rule in route.guards.rules)
        return CallerUsage(
            OwnLimits(rules, [*plan.config.models]),
            services.counters,
            services.usage_sums,
            services.currency,
            [tag.name for tag in plan.config.tags],
            services.clock,
        )

    def sums(self, caller: Caller, query: UsageQuery, /) -> Mapping[str, Any]:
        return self._usage.sums(caller, query)

    def requests(self, caller: Caller, after: str, limit: int, /) -> Mapping[str, Any]:
        return self._usage.requests(caller, after, limit)
