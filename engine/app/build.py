"""BUILD: a Plan -> a Falcon application. The only place where the parts meet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from engine.app.stores import is_metered, services_of
from engine.config.model_operations import ModelOperations
from engine.console.site import pages
from engine.edge import model_list
from engine.edge.cors import Cors
from engine.edge.endpoint import RequestLifecycle
from engine.edge.router import Application, Resource, application
from engine.edge.same_origin import SameOrigin
from engine.edge.visible_models import VisibleModels
from engine.exchange.exchange import Handler, Stage, compose
from engine.exchange.services import Services
from engine.plan.route import Plan, Route
from engine.relay.websocket.session import SessionLimits
from engine.relay.websocket.sessions import Sessions
from engine.stages import would_reject
from engine.stages.authenticate import authenticate
from engine.stages.limit import limit
from engine.stages.meter import meter
from engine.stages.report_responses import report_answers
from engine.stages.validate import validate
from engine.telemetry.health import Health
from engine.telemetry.health import pages as health_pages
from engine.telemetry.metrics.requests import in_flight_collector, report_collector
from engine.telemetry.metrics.streams import session_collector
from engine.telemetry.metrics.upstreams import upstream_collector
from engine.upstream.catalog import Catalog, catalog
from engine.upstream.client.client import Client
from engine.upstream.disconnect_watcher import DisconnectWatcher
from engine.upstream.forward import Forward
from engine.upstream.select_model import select
from engine.upstream.target import Upstream, connect
from engine.upstream.websocket import converse
from engine.values.listen_address import ListenAddress

_LAST_EXCHANGES = 0.5
"""Seconds for exchanges that are still open when the worker closes its stores."""

WrapStages = Callable[[Route, Sequence[Stage]], Sequence[Stage]]
"""What may stand around a route's stages: it is given them all, and gives those to be used."""


def identity(route: Route, stages: Sequence[Stage]) -> Sequence[Stage]:
    """Nothing around the stages."""
    return stages


@dataclass(frozen=True, slots=True)
class _Parts:
    """What the routes of one worker share."""

    plan: Plan
    services: Services
    upstreams: Mapping[str, Upstream]
    catalog: Catalog
    operations: ModelOperations
    shown: VisibleModels
    watcher: DisconnectWatcher
    wrap_stages: WrapStages
    sessions: Sessions
    metered: bool
    same_origin: SameOrigin


def build(
    plan: Plan,
    services: Services | None = None,
    *,
    client: Callable[..., Client] = Client,
    wrap_stages: WrapStages = identity,
) -> Application:
    """The application that serves a plan: one Falcon route for each path, one handler each.

    `client` makes what asks upstreams, `around` sees the stages of each route: a rehearsal gives
    its own, so that what it shows is what is served.
    """
    services = services or services_of(plan.config)
    upstreams = {name: connect(said, client) for name, said in plan.config.upstreams.items()}
    models = catalog(plan.config.models, upstreams)
    server, origins = plan.config.server, plan.config.origins
    operations = plan.model_operations()
    parts = _Parts(
        plan=plan,
        services=services,
        upstreams=upstreams,
        catalog=models,
        operations=operations,
        shown=VisibleModels(plan.config, operations),
        watcher=DisconnectWatcher(),
        wrap_stages=wrap_stages,
        sessions=Sessions(),
        metered=is_metered(plan.config),
        same_origin=SameOrigin(origins, server.base_url, server.trusted_proxies),
    )
    lifecycle = RequestLifecycle(
        server.max_body,
        server.body_timeout,
        services.observers,
        services.clock,
        services.begin,
        Cors(origins),
        server.request_timeout,
    )
    app = application(lifecycle, _public_pages(plan, services))
    _add_telemetry(app, plan, services)
    app.close = lambda: _close(lifecycle, parts)
    if services.health is not None:
        app.leaving = services.health.stop
    app.interrupt = lambda: _interrupt(lifecycle, parts)
    services.collectors.append(upstream_collector(upstreams))
    services.collectors.append(report_collector(would_reject.codes))
    services.collectors.append(in_flight_collector(lambda: lifecycle.open))
    services.collectors.append(session_collector(lambda: len(parts.sessions)))
    for route in plan.routes:
        operation = route.operation
        responder = lifecycle.endpoint(_handler(route, parts), route.dialects, operation.id)
        for template, mount in route.templates:
            resource = Resource(operation.method, mount, route.wide, responder, operation.query)
            app.add_route(template, resource)
    for path, handler in pages(plan, services):
        shown = lifecycle.page(handler)
        for method in ("GET", "HEAD"):
            app.add_route(path, Resource(method, "", (), shown))
    return app


def _interrupt(lifecycle: RequestLifecycle, parts: _Parts) -> None:
    """The worker is about to end: end what is still open, and tell its callers."""
    parts.sessions.restart()
    lifecycle.interrupt()


def _close(lifecycle: RequestLifecycle, parts: _Parts) -> None:
    """The worker ends: the last row is in the journal before that is flushed and closed."""
    if lifecycle.open:
        _interrupt(lifecycle, parts)
        lifecycle.drain(_LAST_EXCHANGES)
    parts.services.close()


def _public_pages(plan: Plan, services: Services) -> Mapping[str, Handler]:
    """The pages of metrics and health that are served beside the API."""
    every = _own_pages(plan, services)
    return {path: every[path] for path in plan.config.telemetry.public_pages if path in every}


def _add_telemetry(app: Application, plan: Plan, services: Services) -> None:
    """Give an application the one for the listener of metrics and health, if there is one."""
    said = plan.config.telemetry
    if not said.address:
        return
    address, server = ListenAddress.parse(said.address), plan.config.server
    pages = _own_pages(plan, services, unix_socket=bool(address.path))
    hint = f" This is telemetry.listen, which serves {' and '.join(pages)} alone."
    app.telemetry_address = address
    lifecycle = RequestLifecycle(
        server.max_body, server.body_timeout, request_timeout=server.request_timeout
    )
    app.telemetry = application(lifecycle, pages, hint)


def _own_pages(
    plan: Plan, services: Services, *, unix_socket: bool = False
) -> Mapping[str, Handler]:
    """The gateway's own pages, for those who run it."""
    said = plan.config.telemetry
    return health_pages(
        services.health or Health(),
        metrics=said.metrics,
        page=services.page,
        allowed=said.allow_ips,
        proxies=services.proxies,
        clock=services.clock,
        unix_socket=unix_socket,
    )


def _handler(route: Route, parts: _Parts) -> Handler:
    """The whole stack of a route."""
    services, dialect = parts.services, route.dialects[-1]
    guards = route.guards
    steps = []
    if route.model is not None:
        steps.append(
            select(
                route.model,
                also=route.also,
                default=route.default_model,
                operation=route.by_model,
                operations=parts.operations,
                catalog=parts.catalog,
                services=services,
            )
        )
    stages = [
        authenticate(route.carriers, route.public, services, same_origin=parts.same_origin),
        *(step.stage(services) for step in guards.early),
        *_reporting(route),
        validate(route.operation, route.validate, _in_body(route), route.unknown_fields),
        *steps,
        *(step.stage(services) for step in guards.late),
        *([meter(dialect, route.takes, services)] if parts.metered else []),
        limit(guards.rules, services, route.to[0].upstream if route.to else ""),
    ]
    return compose(parts.wrap_stages(route, stages), last=_last(route, parts))


def _reporting(route: Route) -> list[Stage]:
    """The stage that looks at answers, on the routes that ask for it."""
    return [] if route.answers is None else [report_answers(route.operation.id, route.answers)]


def _last(route: Route, parts: _Parts) -> Handler:
    """What answers in the end: the list of models, or an upstream, at once or in a session."""
    config = parts.plan.config
    if route.answer == "models":
        return model_list.models(parts.shown, route.dialects, route.wide[0] if route.wide else "")
    forward = Forward(
        route.model,
        fixed=[parts.upstreams[t.upstream].target(t.model, t.weight) for t in route.to],
        dialect=route.dialects[-1],
        upstreams=list(parts.upstreams.values()),
        services=parts.services,
        watcher=parts.watcher,
        declared=[p.name for p in route.operation.parameters if p.place == "header"],
        declared_answers=route.operation.response_headers,
        debug=config.server.debug_headers,
    )
    if route.websocket is None:
        return forward
    limits = SessionLimits(**asdict(route.websocket))
    return converse(forward, route.dialects[-1], limits, parts.sessions)


def _in_body(route: Route) -> bool:
    return route.model is not None and (route.model.place == "body" or bool(route.also))
