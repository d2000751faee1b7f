"""The stack of a route: every step that a request takes, in order. Read `handler_of` first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from engine.app.parts import Parts
from engine.config.model_operations import ModelOperation
from engine.config.transforms import TransformConfig
from engine.edge import model_list
from engine.edge.endpoint import answer_errors
from engine.edge.request_body import check_head
from engine.exchange.exchange import Handler, Stage, compose
from engine.plan.route import Route
from engine.relay.websocket.session import SessionLimits
from engine.stages.report import report_responses
from engine.stages.transform import ModelPlaces, transform
from engine.stages.validate import validate
from engine.transforms.compile import compile_all
from engine.transforms.for_operation import for_operation
from engine.transforms.transform import Transform
from engine.upstream import choose
from engine.upstream.forward import Forward
from engine.upstream.model_catalog import fixed_targets
from engine.upstream.select_model import SelectModel
from engine.upstream.token_estimate import estimate_tokens
from engine.upstream.translations import RouteTranslations
from engine.upstream.websocket import converse


def handler_of(route: Route, parts: Parts) -> Handler:
    """The complete stack of a route, from the outermost stage to the handler that answers."""
    services, guards, operation = parts.services, route.guards, route.by_model
    request_stages = [
        parts.shared.authenticate(route),
        *(step.stage(services) for step in guards.early),
        *_report_stage(route),
        validate(route.operation, route.validate, route.needs_body, route.unknown_fields),
        *(step.stage(services) for step in guards.checks),
        *_select_stage(route, operation, parts),
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
    return compose(stages, last=_last_handler(route, operation, parts))


def _report_stage(route: Route) -> list[Stage]:
    """Reports responses that do not match the document, on routes that ask for it."""
    validators = route.response_validators
    return [] if validators is None else [report_responses(route.operation.id, validators)]


def _select_stage(route: Route, operation: ModelOperation, parts: Parts) -> list[Stage]:
    """Finds the requested model and its targets, on routes to models."""
    if route.model is None:
        return []
    return [
        SelectModel(
            route.model,
            copies=route.also,
            default=route.default_model,
            operation=operation,
            models=parts.models,
            catalog=parts.catalog,
        )
    ]


def _transform_stage(route: Route, parts: Parts) -> list[Stage]:
    """Makes the edits of policies and models, if the config has any. The gateway's own answers are
    not edited."""
    if route.answer:
        return []
    models = parts.models_with_transform if route.model is not None else ()
    if not (models or route.guards.transforms):
        return []
    node = parts.plan.specifications[route.operation.spec].node(route.operation)

    def compiled(configs: Sequence[TransformConfig]) -> list[Transform]:
        return [for_operation(edits, node) for edits in compile_all(configs, upstream=False)]

    of_models = {model.name: compiled(model.transform) for model in models}
    of_route = compiled(route.guards.transforms)
    places = None if route.model is None else ModelPlaces(route.model, route.also)
    strict = route.validate == "strict"
    return [transform(of_route, of_models, route.operation, strict=strict, places=places)]


def _last_handler(route: Route, operation: ModelOperation, parts: Parts) -> Handler:
    """The last handler: the list of models, or an upstream, by HTTP or WebSocket."""
    config = parts.plan.config
    if route.answer == "models":
        variable = route.wide[0] if route.wide else ""
        return model_list.models(parts.visible_models, route.dialects, variable)
    tables = None if route.model is None else parts.translations
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
