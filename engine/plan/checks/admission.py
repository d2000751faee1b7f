"""Checks of queues and hedged routes: queues without effect, unsafe hedging."""

from __future__ import annotations

from collections.abc import Iterable

from engine.config.config import Config
from engine.plan.route import Route
from engine.source.problem import Findings

_IDEMPOTENT = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE", "QUERY"})
"""The methods that may be sent twice (RFC 9110 section 9.2.2)."""


def check_admission(config: Config, routes: Iterable[Route], findings: Findings) -> None:
    """Note every queue without a limit that could fill it, and every route that hedges requests
    which must not be sent twice."""
    _check_queues(config, findings)
    places: set[object] = set()
    for route in routes:
        at = (*route.at[:2], "hedge")
        if route.hedge is not None and at not in places and (problem := _hedge_problem(route)):
            places.add(at)
            message, hint = problem
            findings.error(config.source, at, "MW388", message, hint)


def _check_queues(config: Config, findings: Findings) -> None:
    lists = [model.targets for model in config.models.values()] + [
        route.to for route in config.routes
    ]
    bounded = {target.upstream for targets in lists for target in targets if target.max_in_flight}
    for upstream in config.upstreams.values():
        fills = upstream.max_in_flight is not None or upstream.name in bounded
        if upstream.queue is not None and not fills:
            message = "'queue' has no effect without 'max_in_flight'"
            hint = "write max_in_flight: 8 beside it, or at a target of the upstream"
            findings.error(config.source, (*upstream.at, "queue"), "MW387", message, hint)


def _hedge_problem(route: Route) -> tuple[str, str] | None:
    """Why requests of a route must not be hedged, and what to do; None if they may be."""
    operation, hedge = route.operation, route.hedge
    if operation.websocket:
        return f"{operation.id} is a WebSocket, which is never hedged", "remove 'hedge'"
    if route.answer is not None:
        return f"{operation.id} is answered by the gateway, not by a target", "remove 'hedge'"
    method = operation.method.upper()
    if method in _IDEMPOTENT or (hedge is not None and hedge.idempotent):
        return None
    message = f"{operation.id} is a {method}, which must not be sent twice"
    return message, "write idempotent: true if sending it twice does no harm"
