"""BUILD: a Plan -> a Falcon application. The only place where the parts meet.

Read `_handler` first: it lists every step that a request of a route takes, in order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial

from engine.app.own_pages import OwnPages
from engine.app.shared_stages import SharedStages
from engine.app.stores import is_metered, open_shared, services_of
from engine.app.upstreams import upstreams_of
from engine.config.listed_models import listed_models
from engine.config.models import Model
from engine.config.transforms import TransformConfig
from engine.console.pages import pages as console_pages
from engine.credentials.interface.credential import OpenCredential
from engine.edge import model_list
from engine.edge.cors import Cors
from engine.edge.endpoint import Endpoints, answer_errors
from engine.edge.lifecycle import RequestLifecycle
from engine.edge.model_list import VisibleModels
from engine.edge.origin import SameOrigin
from engine.edge.request_body import check_head
from engine.edge.router import Application, Resource, application
from engine.exchange.exchange import Handler, Stage, compose
from engine.exchange.services import Services
from engine.plan.route import Plan, Route
from engine.relay.websocket.session import SessionLimits, Sessions
from engine.stages.report import mismatches, report_responses
from engine.stages.transform import ModelPlaces, transform
from engine.stages.validate import validate
from engine.telemetry.metrics.admission import queue_collector
from engine.telemetry.metrics.health import health_collector
from engine.telemetry.metrics.requests import in_flight_collector, report_collector
from engine.telemetry.metrics.streams import session_collector
from engine.telemetry.metrics.upstreams import upstream_collector
from engine.transforms.compile import compile_all
from engine.transforms.for_operation import for_operation
from engine.transforms.transform import Transform
from engine.upstream import choose
from engine.upstream.admission.gates import gates_of
from engine.upstream.client.client import Client
from engine.upstream.disconnect_watcher import DisconnectWatcher
from engine.upstream.forward import Forward
from engine.upstream.health.monitor import HealthMonitor
from engine.upstream.model_catalog import (
    Catalog,
    ModelsByOperation,
    build_catalog,
    fixed_targets,
)
from engine.upstream.route_headers import RouteHeaders
from engine.upstream.select_model import SelectModel
from engine.upstream.target import Upstream
from engine.upstream.token_estimate import estimate_tokens
from engine.upstream.translations import RouteTranslations, TranslationTables
from engine.upstream.websocket import converse

_DRAIN_SECONDS = 0.5
"""How long open exchanges may take to end when the worker closes its stores."""

WrapStages = Callable[[Route, Sequence[Stage]], Sequence[Stage]]
"""Returns the stages to use for a route, given those of the plan. A rehearsal adds its own."""


def identity(route: Route, stages: Sequence[Stage]) -> Sequence[Stage]:
    """The stages as they are."""
    return stages


@dataclass(frozen=True, slots=True)
class _Parts:
    """What the routes of one worker share."""

    plan: Plan
    services: Services
    upstreams: Mapping[str, Upstream]
    health: HealthMonitor
    catalog: Catalog
    transformed: Sequence[Model]
    headers: RouteHeaders
    models: ModelsByOperation
    translations: TranslationTables
    visible_models: VisibleModels
    watcher: DisconnectWatcher
    wrap_stages: WrapStages
    sessions: Sessions
    metered: bool
    shared: SharedStages
    cors: Cors
    lifecycle: RequestLifecycle
    endpoints: Endpoints


def build(
    plan: Plan,
    services: Services | None = None,
    *,
    client: Callable[..., Client] = Client,
    open_credential: OpenCredential | None = None,
    wrap_stages: WrapStages = identity,
) -> Application:
    """The application that serves a plan: one Falcon route for each path, one handler each.

    `client` makes the clients of upstreams, `open_credential` their credentials, and `wrap_stages`
    changes the stages of a route: a rehearsal passes its own, so that what it shows is what is
    served.
    """
    parts = _parts(
        plan,
        services or services_of(plan.config),
        client,
        open_credential or open_shared(plan.config),
        wrap_stages,
    )
    pages = OwnPages(plan.config.telemetry, parts.services, parts.endpoints)
    app = application(
        parts.endpoints,
        [parts.lifecycle.observe, *parts.cors.stages(), answer_errors, check_head],
        pages=pages.public(),
        cors=parts.cors,
    )
    for route in plan.routes:
        operation = route.operation
        responder = parts.endpoints.responder(_handler(route, parts), route.dialects, operation.id)
        for template, mount in route.templates:
            resource = Resource(operation.method, mount, route.wide, responder, operation.query)
            app.add_route(template, resource)
    for path, handler in console_pages(plan, parts.services):
        page = pages.responder(handler)
        for method in ("GET", "HEAD"):
            app.add_route(path, Resource(method, "", (), page))
    pages.add_listener(app)
    _connect_to_server(app, parts)
    _add_collectors(parts)
    if parts.services.background:
        parts.health.start()
    return app


def _parts(
    plan: Plan,
    services: Services,
    client: Callable[..., Client],
    open_credential: OpenCredential,
    wrap_stages: WrapStages,
) -> _Parts:
    config = plan.config
    upstreams = upstreams_of(config, services, client, open_credential)
    health = HealthMonitor(config.upstreams, upstreams, services.machine)
    catalog = build_catalog(
        config.models, upstreams, partial(choose.build, services), listed_models(config)
    )
    for model in catalog.values():
        health.watch(model.groups)
    server, origins = config.server, config.origins
    operations = plan.model_operations()
    return _Parts(
        plan=plan,
        services=services,
        upstreams=upstreams,
        health=health,
        catalog=catalog,
        transformed=[model for model in config.models.values() if model.transform],
        headers=RouteHeaders(upstreams.values()),
        models=ModelsByOperation(operations),
        translations=TranslationTables(operations, config.models),
        visible_models=VisibleModels(config, operations),
        watcher=DisconnectWatcher(),
        wrap_stages=wrap_stages,
        sessions=Sessions(),
        metered=is_metered(config),
        shared=SharedStages(services, SameOrigin(origins, server.base_url, server.trusted_proxies)),
        cors=Cors(origins),
        lifecycle=RequestLifecycle(services.observers, services.clock, services.begin),
        endpoints=Endpoints(server.max_body, server.body_timeout, server.request_timeout),
    )


def _handler(route: Route, parts: _Parts) -> Handler:
    """The complete stack of a route, from the outermost stage to the handler that answers."""
    services, guards = parts.services, route.guards
    request_stages = [
        parts.shared.authenticate(route),
        *(step.stage(services) for step in guards.early),
        *_report_stage(route),
        validate(route.operation, route.validate, route.needs_body, route.unknown_fields),
        *(step.stage(services) for step in guards.checks),
        *_select_stage(route, parts),
        *(step.stage(services) for step in guards.late),
        *_transform_stage(route, parts),
        *([parts.shared.meter(route)] if parts.metered else []),
        parts.shared.limit(route),
    ]
    stages = [
        parts.lifecycle.observe,
        *parts.cors.stages(),
        answer_errors,
        check_head,
        *parts.wrap_stages(route, request_stages),
    ]
    return compose(stages, last=_last_handler(route, parts))


def _report_stage(route: Route) -> list[Stage]:
    """Reports responses that do not match the document, on routes that ask for it."""
    return [] if route.answers is None else [report_responses(route.operation.id, route.answers)]


def _select_stage(route: Route, parts: _Parts) -> list[Stage]:
    """Finds the requested model and its targets, on routes to models."""
    if route.model is None:
        return []
    return [
        SelectModel(
            route.model,
            copies=route.also,
            default=route.default_model,
            operation=route.by_model,
            models=parts.models,
            catalog=parts.catalog,
        )
    ]


def _transform_stage(route: Route, parts: _Parts) -> list[Stage]:
    """Makes the edits of policies and models, where the config has some; none of the gateway's own
    answers."""
    if route.answer:
        return []
    models = parts.transformed if route.model is not None else ()
    if not (models or route.guards.transforms):
        return []
    node = parts.plan.specifications[route.operation.spec].node(route.operation)

    def compiled(configs: Sequence[TransformConfig]) -> list[Transform]:
        return [for_operation(each, node) for each in compile_all(configs, upstream=False)]

    of_models = {model.name: compiled(model.transform) for model in models}
    of_route = compiled(route.guards.transforms)
    places = None if route.model is None else ModelPlaces(route.model, route.also)
    strict = route.validate == "strict"
    return [transform(of_route, of_models, route.operation, strict=strict, places=places)]


def _last_handler(route: Route, parts: _Parts) -> Handler:
    """What answers in the end: the list of models, or an upstream, by HTTP or WebSocket."""
    config = parts.plan.config
    if route.answer == "models":
        variable = route.wide[0] if route.wide else ""
        return model_list.models(parts.visible_models, route.dialects, variable)
    tables = None if route.model is None else parts.translations
    operation = route.by_model
    translations = RouteTranslations(operation, tables, parts.services.clock)
    fixed = fixed_targets(route.to, parts.upstreams, choose.build(parts.services, route.choose))
    parts.health.watch([fixed])
    forward = Forward(
        route.model,
        fixed=fixed,
        dialect=route.dialects[-1],
        headers=parts.headers,
        services=parts.services,
        watcher=parts.watcher,
        translations=translations or None,
        declared=[p.name for p in route.operation.parameters if p.place == "header"],
        declared_responses=route.operation.response_headers,
        debug=config.server.debug_headers,
        priority=route.priority,
        hedge=route.hedge,
    )
    if route.model is not None and operation.counts:
        return estimate_tokens(operation, forward)
    if route.websocket is None:
        return forward
    limits = SessionLimits(**asdict(route.websocket))
    return converse(forward, route.dialects[-1], limits, parts.sessions)


def _connect_to_server(app: Application, parts: _Parts) -> None:
    """Set what the server calls when its worker stops, and when it refuses a request itself."""
    app.delay = parts.plan.config.server.delay
    app.record_refusal = parts.lifecycle.record_refusal
    app.interrupt = lambda: _interrupt(parts)
    app.close = lambda: _close(parts)
    if parts.services.health is not None:
        app.leaving = parts.services.health.stop
        parts.services.health.details_of["targets"] = parts.health.report


def _interrupt(parts: _Parts) -> None:
    """The worker is about to end: end what is still open, and tell its callers."""
    parts.sessions.restart()
    parts.lifecycle.interrupt()


def _close(parts: _Parts) -> None:
    """The worker ends: the last row is in the journal before that is flushed and closed."""
    if parts.lifecycle.open:
        _interrupt(parts)
        parts.lifecycle.drain(_DRAIN_SECONDS)
    parts.health.stop()
    parts.services.close()


def _add_collectors(parts: _Parts) -> None:
    """Let the metrics page read the gauges of this application."""
    parts.services.collectors.extend(
        [
            upstream_collector(parts.upstreams),
            queue_collector(lambda: gates_of(each.gates for each in parts.upstreams.values())),
            report_collector(mismatches.codes),
            health_collector(parts.health.watched, time.monotonic),
            in_flight_collector(lambda: parts.lifecycle.open),
            session_collector(lambda: len(parts.sessions)),
        ]
    )
