"""The alternatives of a plan: operations of a document for one method and path, each with its own
route. `stages/alternatives.py` chooses among them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from engine.app.routes.route_handler import handler_of, head_stages, outer_stages
from engine.app.routes.worker_parts import Parts
from engine.edge.falcon_responder import Responder
from engine.edge.path_operations import Candidate
from engine.exchange.exchange import Handler, Response, compose
from engine.plan.route import Route
from engine.stages.alternative_operation import Alternative
from engine.stages.alternatives import Choice, refusing
from engine.stages.validate import UNCHECKED
from engine.values.errors import GatewayError


class AlternativeResponders:
    """Makes the responders for requests that several operations may serve. What depends on an
    operation alone is made at its first request."""

    def __init__(self, routes: Iterable[Route], parts: Parts) -> None:
        self._routes = {route.operation.id: route for route in routes}
        self._parts = parts
        self._alternatives: dict[str, Alternative] = {}

    def responder(self, candidates: Sequence[Candidate]) -> Responder:
        """The responder that chooses among candidates for a request."""
        parts, route = self._parts, self._routes[candidates[0].resource.operation]
        choice = Choice(candidates, self._alternative)
        stages = [*outer_stages(parts), *parts.wrap_stages(route, [choice.stage])]
        return parts.responders.responder(compose(stages, choice.handler), route.dialects)

    def _alternative(self, operation: str) -> Alternative:
        if operation not in self._alternatives:
            self._alternatives[operation] = self._make(self._routes[operation])
        return self._alternatives[operation]

    def _make(self, route: Route) -> Alternative:
        parts = self._parts
        return Alternative(
            operation=route.operation,
            unknown=route.unknown_fields,
            readonly=route.readonly,
            is_tolerant=route.validate in ("off", "report"),
            carriers=() if route.allows_anonymous else route.carriers,
            authenticate=parts.shared.authenticate(route, any_operation=True),
            handler=handler_of(route, parts, is_chosen=True),
            judged=handler_of(route, parts, is_chosen=True, checks=UNCHECKED),
            refusal=partial(self._refusal, route),
        )

    def _refusal(self, route: Route, error: GatewayError) -> Handler:
        stages = [*head_stages(route, self._parts), refusing(error)]
        return compose(self._parts.wrap_stages(route, stages), lambda _: Response(500, []))
