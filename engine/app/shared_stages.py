"""Stages that routes with the same settings share: a config may have thousands of routes."""

from __future__ import annotations

from collections.abc import Callable

from engine.edge.origin import SameOrigin
from engine.exchange.exchange import Stage
from engine.exchange.services import Services
from engine.plan.route import Route
from engine.stages.authenticate import authenticate
from engine.stages.limit import limit
from engine.stages.meter import meter


class SharedStages:
    """The stages of a worker that depend on few settings of a route, one for each combination."""

    def __init__(self, services: Services, same_origin: SameOrigin) -> None:
        self._services = services
        self._same_origin = same_origin
        self._stages: dict[object, Stage] = {}

    def authenticate(self, route: Route) -> Stage:
        """Finds the caller."""

        def build() -> Stage:
            carriers, origin = route.carriers, self._same_origin
            return authenticate(carriers, route.public, self._services, same_origin=origin)

        return self._shared("authenticate", (tuple(route.carriers), route.public), build)

    def meter(self, route: Route) -> Stage:
        """Reads usage and cost."""
        dialect = route.dialects[-1]
        return self._shared(
            "meter",
            (dialect.name, route.takes),
            lambda: meter(dialect, route.takes, self._services),
        )

    def limit(self, route: Route) -> Stage:
        """Enforces the quotas of the route and of the caller's token."""
        rules, upstream = route.guards.rules, route.to[0].upstream if route.to else ""
        return self._shared(
            "limit", (tuple(rules), upstream), lambda: limit(rules, self._services, upstream)
        )

    def _shared(self, name: str, settings: object, build: Callable[[], Stage]) -> Stage:
        key = name, settings
        if key not in self._stages:
            self._stages[key] = build()
        return self._stages[key]
