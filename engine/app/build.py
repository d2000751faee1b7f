"""BUILD: a Plan -> a Falcon application. The only place where the parts meet.

`worker_parts.py` makes the parts that routes share, `route_handler.py` the stages of each route.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from engine.app.own_pages import OwnPages
from engine.app.preload import preload_models
from engine.app.routes.alternative_responders import AlternativeResponders
from engine.app.routes.route_handler import outer_stages, responder_of
from engine.app.routes.worker_parts import (
    MAX_MADE,
    Parts,
    WrapStages,
    identity,
    is_observed,
    parts_of,
)
from engine.app.services.machine_stores import open_shared
from engine.app.services.plan_needs import costly_operations
from engine.app.services.worker_services import services_of
from engine.callers.revocation import sweep
from engine.console.pages import pages as console_pages
from engine.credentials.interface.credential import OpenCredential
from engine.edge.falcon_application import Application, application
from engine.edge.falcon_responder import Responder
from engine.edge.host_names import ANY_HOST
from engine.edge.host_router import HostRouter
from engine.edge.inside_call import InsideCalls
from engine.edge.path_operations import Choose, Resource, Routes, link_overlaps
from engine.edge.router import Router
from engine.exchange.exchange import Exchange
from engine.exchange.stage_services import Services
from engine.plan.plan import Plan
from engine.plan.route import Route, routes_at
from engine.relay.websocket.close_frames import token_revoked
from engine.stages.report import mismatches
from engine.telemetry.metrics.requests import in_flight_collector, report_collector
from engine.telemetry.metrics.streams import session_collector
from engine.upstream.admission.upstream_gates import gates_of, queue_collector
from engine.upstream.client.client import Client
from engine.upstream.health.watched_target import health_collector
from engine.upstream.targets.metrics import mirror_collector, upstream_collector

_DRAIN_SECONDS = 0.5
"""How long open exchanges may take to end when the worker closes its stores."""


def build(
    plan: Plan,
    services: Services | None = None,
    *,
    client: Callable[..., Client] = Client,
    open_credential: OpenCredential | None = None,
    wrap_stages: WrapStages = identity,
    console_plan: Plan | None = None,
) -> Application:
    """The application that serves a plan: one Falcon route with one handler for each path. In a
    worker that serves, routes and models are made at their first request, unless metrics show
    them earlier; a trial makes them at once, of thousands the first `MAX_MADE`.

    `client` makes the clients of upstreams, `open_credential` their credentials, and `wrap_stages`
    changes the stages of a route: a rehearsal of the same application passes its own. The console
    shows `console_plan`, or this plan.
    """
    inside = InsideCalls()
    services = services or services_of(plan)
    open_credential = open_credential or open_shared(plan.config)
    parts = parts_of(plan, services, client, open_credential, wrap_stages, inside)
    pages = OwnPages(plan, parts.services, parts.responders)
    app = application(
        parts.responders,
        outer_stages(parts),
        pages=pages.public(),
        cors=parts.cors,
        combine=partial(_combined, plan, parts),
    )
    inside.app = app
    _add_routes(app, plan, parts)
    _add_mcp_servers(app, plan, parts)
    _add_console(app, pages, console_plan or plan, parts.services)
    pages.add_listener(app)
    _begin(app, parts)
    return app


def _begin(app: Application, parts: Parts) -> None:
    """Connect the application to its server and to the metrics, and start what acts on its own."""
    _connect_to_server(app, parts)
    _add_collectors(parts)
    if parts.services.background:
        parts.health.start()
        preload_models(parts.plan.config)
        _end_revoked(parts)


def _combined(plan: Plan, parts: Parts, make: Callable[[Choose], Router]) -> Routes:
    """The router of a plan: of several if routes have hosts, which `make` makes."""

    def router(pattern: str) -> Router:
        return make(AlternativeResponders(routes_at(plan.routes, pattern), parts).responder)

    patterns = _host_patterns(plan)
    if len(patterns) == 1:
        return router(ANY_HOST)
    return HostRouter(patterns, router, parts.services.proxies)


def _host_patterns(plan: Plan) -> list[str]:
    """The patterns of hosts of all routes, ANY_HOST first."""
    return [*dict.fromkeys((ANY_HOST, *(host for route in plan.routes for host in route.hosts)))]


def _add_routes(app: Application, plan: Plan, parts: Parts) -> None:
    places = _places(plan)
    responders = [_LazyResponder(route, parts) for route in plan.routes]
    by_name = {responder.route.name: responder for responder in responders}
    for number, responder in enumerate(responders):
        tried = not parts.services.background and number < MAX_MADE
        if tried or is_observed(responder.route.to, responder.route.choose, parts.plan.config):
            responder()
    for host in _host_patterns(plan):
        resources = list[Resource]()
        for route in routes_at(plan.routes, host):
            place = places[route.operation.id]
            resources += _add_route(app, by_name[route.name], place, host)
        link_overlaps(resources)


def _add_mcp_servers(app: Application, plan: Plan, parts: Parts) -> None:
    if plan.config.mcp:
        from engine.app.mcp.servers import (
            add_servers,
        )  # with all of `tools`, which few configs need

        add_servers(app, plan, parts)


def _add_console(app: Application, pages: OwnPages, plan: Plan, services: Services) -> None:
    for path, handler, methods in console_pages(plan, services):
        page = partial(pages.responder, handler)
        for method in methods:
            app.add_route(path, Resource(method, "", (), page))


def _places(plan: Plan) -> dict[str, tuple[str, int]]:
    """The document of each operation, and its number there."""
    return {
        operation.id: (name, number)
        for name, specification in plan.specifications.items()
        for number, operation in enumerate(specification.operations.values())
    }


def _add_route(
    app: Application, responder: _LazyResponder, place: tuple[str, int], host: str
) -> Iterator[Resource]:
    route, operation = responder.route, responder.route.operation
    for template, mount in route.templates:
        resource = Resource(
            operation.method,
            mount,
            route.slash_variables,
            responder,
            operation.query,
            operation.id,
            place,
            route.dialects[-1],
        )
        app.add_route(template, resource, host=host)
        yield resource


@dataclass(slots=True)
class _LazyResponder:
    """Makes the responder of a route once, for all its templates."""

    route: Route
    parts: Parts
    responder: Responder | None = None

    def __call__(self) -> Responder:
        if self.responder is None:
            self.responder = responder_of(self.route, self.parts)
        return self.responder


def _connect_to_server(app: Application, parts: Parts) -> None:
    """Set what the server asks for, and the functions that it calls when its worker stops or it
    refuses a request."""
    app.delay = parts.plan.config.server.delay
    app.costly_operations = costly_operations(parts.plan)
    app.record_refusal = parts.lifecycle.record_refusal
    app.interrupt = lambda: _interrupt(parts)
    app.close = lambda: _close(parts)
    app.leaving = partial(_leave, parts)
    if parts.services.health is not None:
        parts.services.health.details_of["targets"] = parts.health.report


def _end_revoked(parts: Parts) -> None:
    """End the open requests of tokens that are revoked or expire, from now on."""
    validity, lifecycle = parts.services.token_validity, parts.lifecycle
    if validity is None:
        return

    def end(exchange: Exchange) -> None:
        if exchange.record.traffic is None:
            lifecycle.revoke(exchange)
        else:
            parts.sessions.end(exchange.record.traffic, token_revoked())

    task = sweep(lifecycle.open_exchanges, validity, end, parts.services.clock)
    task.start()
    parts.services.closing.append(lambda: task.stop(_DRAIN_SECONDS))


def _leave(parts: Parts, has_successor: bool) -> None:
    """The shutdown of the worker begins: without a successor it is not ready, and sessions that can
    end without harm do."""
    if parts.services.health is not None and not has_successor:
        parts.services.health.stop()
    parts.sessions.leave()


def _interrupt(parts: Parts) -> None:
    """The worker ends soon: end open sessions and requests with an error to their callers."""
    parts.sessions.restart()
    parts.lifecycle.interrupt()


def _close(parts: Parts) -> None:
    """The worker ends: end open exchanges first, so that their entries reach the journal before it
    is flushed and closed."""
    if parts.lifecycle.open:
        _interrupt(parts)
        parts.lifecycle.drain(_DRAIN_SECONDS)
    parts.health.stop()
    parts.services.close()


def _add_collectors(parts: Parts) -> None:
    """Let the metrics page read the gauges of this application."""
    parts.services.collectors.extend(
        [
            upstream_collector(parts.upstreams),
            queue_collector(lambda: gates_of(u.gates for u in parts.upstreams.values())),
            report_collector(mismatches.codes),
            health_collector(parts.health.watched, time.monotonic),
            in_flight_collector(lambda: parts.lifecycle.open),
            session_collector(lambda: len(parts.sessions)),
            mirror_collector(parts.mirrors.counts),
        ]
    )
