"""BUILD: a Plan -> a Falcon application. The only place where the parts meet."""

from __future__ import annotations

from collections.abc import Mapping

from engine import answer, policies
from engine.dialects import ModelCard
from engine.endpoint import Door
from engine.exchange import Handler
from engine.pipeline import compose
from engine.plan import Plan, Route
from engine.router import Application, Resource, application
from engine.services import Services
from engine.stages.authenticate import authenticate
from engine.stages.validate import validate
from engine.upstream.catalog import Catalog, catalog
from engine.upstream.forward import forward
from engine.upstream.select import select
from engine.upstream.target import Target, Upstream, connect


def build(plan: Plan, services: Services | None = None) -> Application:
    """The application that serves a plan: one Falcon route for each path, one handler each."""
    services = services or Services(tokens=plan.config.tokens)
    upstreams = {name: connect(said) for name, said in plan.config.upstreams.items()}
    served = catalog(plan.config.models, upstreams)
    door = Door(plan.config.server.max_body, plan.config.server.body_timeout)
    app = application(door)
    for route in plan.routes:
        handler = _handler(route, plan, upstreams, served, services)
        responder = door.endpoint(handler, route.dialects)
        for template, mount in route.templates:
            resource = Resource(route.operation.method, mount, route.wide, responder)
            app.add_route(template, resource)
    return app


def _handler(
    route: Route,
    plan: Plan,
    upstreams: Mapping[str, Upstream],
    served: Catalog,
    services: Services,
) -> Handler:
    """The whole stack of a route."""
    dialect = route.dialects[-1]
    steps = []
    if route.model is not None:
        steps = [
            select(route.model, route.also, route.default_model, dialect.name, served, services)
        ]
    return compose(
        [
            authenticate(route.carriers, route.public, services),
            *(policies.get(p.name).build(p.options, services) for p in route.policies),
            validate(route.operation, route.validate, _in_body(route)),
            *steps,
        ],
        last=_last(route, plan, upstreams),
    )


def _last(route: Route, plan: Plan, upstreams: Mapping[str, Upstream]) -> Handler:
    """What answers in the end: the list of models, or an upstream."""
    if route.answer == "models":
        cards = [
            ModelCard(m.name, m.title, m.owner, m.created)
            for m in plan.config.models.values()
            if "*" not in m.name
        ]
        variable = route.wide[0] if route.wide else ""
        return answer.models(cards, variable)
    if route.answer == "websocket":
        return answer.not_implemented
    fixed = [Target(upstreams[t.upstream], t.model, t.weight) for t in route.to]
    dialect = route.dialects[-1]
    declared = [p.name for p in route.operation.parameters if p.place == "header"]
    return forward(route.model, fixed, dialect, list(upstreams.values()), declared)


def _in_body(route: Route) -> bool:
    return route.model is not None and (route.model.place == "body" or bool(route.also))
