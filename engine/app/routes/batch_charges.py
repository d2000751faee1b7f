"""Counts the results of batches against limits of tokens and money, when they are first read."""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable

from engine.callers.limits.route_limits import Part, RouteLimits
from engine.exchange.exchange import Exchange
from engine.exchange.requested_model import RequestedModel
from engine.exchange.stage_services import Services
from engine.plan.route import Route
from engine.process.log_throttle import LogThrottle
from engine.upstream.targets.target import Target
from engine.values.counters import CountersAway
from engine.values.quota import KINDS
from engine.values.usage import Usage

_warning = LogThrottle(level=logging.ERROR)

TargetsOf = Callable[[Route, str, Exchange], list[Target]]
"""The targets of a model for the operation of a route."""


class BatchCharges:
    """Counts against the limits of the caller, its teams and the routes of operations."""

    def __init__(self, routes: tuple[Route, ...], services: Services, targets: TargetsOf) -> None:
        self._routes = {route.operation.id: route for route in routes}
        self._services, self._targets = services, targets
        self._limit_sets: dict[str, RouteLimits] = {}

    def __call__(
        self, exchange: Exchange, operation: str, model: str, usage: Usage, cost: int
    ) -> None:
        """Count usage and cost (nano-units). What a quota has no room for any more is not added to
        it: it refuses requests already."""
        counters, route = self._services.counters, self._routes.get(operation)
        if counters is None:
            return
        request = copy.copy(exchange)
        request.operation = operation
        targets = [] if route is None else self._targets(route, model, request)
        request.model = RequestedModel(model, targets=targets)
        limits = self._of(operation, route).of(request)
        try:
            for rule, limit in zip(limits.rules, limits.limits, strict=True):
                amount_of = KINDS[rule.quota.kind].cost
                amount = 0 if amount_of is None else amount_of(usage, cost)
                if amount:
                    result = counters.take((limit,), (0,))
                    if result.denied is None:
                        counters.settle(result.receipt, (amount,))
        except CountersAway as error:
            exchange.record.uncounted = True
            _warning.log("results of batches are not counted against limits: %s", error)

    def _of(self, operation: str, route: Route | None) -> RouteLimits:
        if operation not in self._limit_sets:
            rules = () if route is None else route.guards.rules
            services = self._services
            self._limit_sets[operation] = RouteLimits(
                rules, services.proxies, "", Part.ALL, tables=services.names
            )
        return self._limit_sets[operation]
