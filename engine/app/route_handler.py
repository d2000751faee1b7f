"""The stack of a route: every step that a request takes, in order. Read `handler_of` first."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import groupby

from engine.app.batch_stages import batch_route, batch_stages
from engine.app.caller_usage import usage_of
from engine.app.object_stages import object_stages
from engine.app.worker_parts import Parts
from engine.callers.limit_set import Part
from engine.config.model_operations import ModelOperation
from engine.config.routes import WebSocket
from engine.config.transforms import TransformConfig
from engine.dialects import Dialect
from engine.edge.answers.own_answer import AnswerSources, SessionRoute
from engine.edge.endpoint import Responder, answer_errors
from engine.edge.request_body import check_head
from engine.edge.route_response import route_response
from engine.exchange.exchange import Handler, Stage, compose
from engine.plan.route import Route
from engine.policies import PolicyStep
from engine.relay.websocket.session import SessionLimits
from engine.sockets.upgrade import SocketSettings
from engine.spec.document import path_templates
from engine.stages.transform import edit, transform
from engine.stages.validate import UNCHECKED, Checks, checks_of
from engine.transforms.compile import compile_all
from engine.transforms.operation_edits import for_operation
from engine.transforms.transform import Transform
from engine.upstream import choose
from engine.upstream.first_message import receive_first
from engine.upstream.forward import Forward
from engine.upstream.model_catalog import fixed_targets
from engine.upstream.object_forward import ObjectForward, ObjectRoute
from engine.upstream.object_lists import ListForward
from engine.upstream.regional_targets import RegionalGroup, RegionalModels
from engine.upstream.select_model import SelectModel
from engine.upstream.stored_response_forward import StoredResponseForward
from engine.upstream.target_groups import TargetGroup
from engine.upstream.token_estimate import estimate_tokens
from engine.upstream.translations import RouteTranslations
from engine.upstream.websocket import converse
from engine.values.caller import AllowLists


def responder_of(route: Route, parts: Parts) -> Responder:
    """The responder of a route. It has nothing of the operation: the router passes its id."""
    handler, dialects = handler_of(route, parts), route.dialects
    settings = handler, tuple(dialect.name for dialect in dialects)
    return parts.shared.once(
        "responder", settings, lambda: parts.endpoints.responder(handler, dialects)
    )


def handler_of(
    route: Route, parts: Parts, *, is_chosen: bool = False, checks: Checks | None = None
) -> Handler:
    """The complete stack of a route, from the outermost stage to the handler that answers. Routes
    with the same stages share it.

    What the head decides comes before the body is received, and what the model decides before the
    schema is applied, so that a refusal saves work. Policies that judge what a transform may edit
    follow in the order of the config.

    `is_chosen`: the route was chosen among alternatives, behind the outer stages. `checks` stand in
    for those of the route, where its document has judged the request before.
    """
    operation = route.by_model
    request_stages = stages_of(route, parts, _checks(route) if checks is None else checks)
    wrapped = parts.wrap_stages(route, request_stages)
    stages = [*([] if is_chosen else outer_stages(parts)), *wrapped]
    has_own = _has_own_targets(route) or wrapped is not request_stages
    last = _last_handler(route, operation, parts)
    # What no other route can have is not remembered.
    return compose(stages, last) if has_own else parts.shared.compose(stages, last)


def stages_of(route: Route, parts: Parts, checks: Checks = UNCHECKED) -> list[Stage]:
    """The stages of a route behind the outer ones, before its last handler."""
    shared, guards = parts.shared, route.guards
    by_model = route.model is not None
    if route.respond is not None:  # whatever the request is
        return head_stages(route, parts)
    return [
        *head_stages(route, parts),
        *_first_message_stages(route, parts),
        *shared.report(route),
        *shared.validate_parameters(checks),
        *shared.take_turn(parts.watcher.watch),
        *_receiving_stages(route, checks, parts),
        *shared.policies(guards.models),
        *shared.validate_body(checks),
        *map(shared.in_parts, _written_stages(route, parts)),
        *batch_stages(route, parts, partial(judging_stages, parts=parts)),
        *map(shared.in_parts, object_stages(route, parts)),
        *([shared.meter(route)] if parts.metered else []),
        *([shared.limit(route, Part.MODEL)] if by_model else []),
        *([shared.limit(route, Part.BODY)] if _takes_by_body(route) else []),
        *_mirror_stage(route, parts),
        *shared.end_turn(),
    ]


def _first_message_stages(route: Route, parts: Parts) -> list[Stage]:
    """Accepts a WebSocket whose first message is the body of the request."""
    if route.websocket is None or not route.operation.first_message:
        return []
    dialect, limits = route.dialects[-1], session_limits(route.websocket)
    server = parts.plan.config.server
    build = partial(receive_first, dialect, limits, server.max_body, server.body_timeout)
    return [parts.shared.once("first message", (dialect.name, limits), build)]


def head_stages(route: Route, parts: Parts) -> list[Stage]:
    """The stages that need nothing but the head of a request."""
    shared, by_model = parts.shared, route.model is not None
    return [
        shared.authenticate(route),
        *shared.bind_session(route),
        *shared.policies(route.guards.early),
        *([shared.limit(route, Part.HEAD if by_model else Part.ALL)] if _takes(route) else []),
    ]


def _takes_by_body(route: Route) -> bool:
    """Whether requests take from limits by a member of the body, on a route without models."""
    return route.guards.counts_by_body and route.model is None and _takes(route)


def _takes(route: Route) -> bool:
    """Whether requests take from limits."""
    return route.answer is None or not route.answer.is_free


def outer_stages(parts: Parts) -> list[Stage]:
    """The stages of every request for an operation, before those of its route."""
    return [parts.lifecycle.observe, *parts.cors.stages(), answer_errors, check_head]


def _checks(route: Route) -> Checks:
    """The checks of the route's requests against its document."""
    locations = route.model_locations
    return checks_of(
        *(route.operation, route.validate, route.needs_body, route.unknown_fields, locations),
        readonly=route.readonly,
    )


def checks_left(route: Route) -> Checks:
    """The checks of a route that are left for requests whose values fit its document, as those of
    tools do: their bodies are parsed."""
    checks = _checks(route)
    is_done = checks.mode in ("strict", "lenient") and not checks.edits
    return checks._replace(parameters=(), mode="off") if is_done else checks


def _receiving_stages(route: Route, checks: Checks, parts: Parts) -> list[Stage]:
    """Receives the body and selects the model, which is refused as soon as its name is known."""
    select = _select_stage(route, route.by_model, parts)
    if select is None or route.model is None:
        return [parts.shared.receive(checks)]
    if route.model.location == "body":
        return [parts.shared.receive(checks, select.check_early), select]
    return [select.check_head, parts.shared.receive(checks), select]


def _select_stage(route: Route, operation: ModelOperation, parts: Parts) -> SelectModel | None:
    """Finds the requested model and its targets, on routes to models."""
    locations = route.model_locations
    if locations is None:
        return None
    kind, lists = parts.models.operations.kind(operation), _region_lists(route)
    is_regional = bool(lists) or parts.plan.config.requires_regions
    select = partial(
        SelectModel,
        locations,
        default=route.default_model,
        operation=operation,
        models=parts.models,
        catalog=parts.catalog,
        regional=RegionalModels(lists, may_lack=bool(operation.counts)) if is_regional else None,
    )
    return parts.shared.once("select", (locations, route.default_model, kind, lists), select)


def _region_lists(route: Route) -> AllowLists:
    """The regions that a route requires of its targets."""
    return () if route.regions is None else (route.regions,)


def _written_stages(route: Route, parts: Parts) -> list[Stage]:
    """The policies that run in the order of the config, and the edits of transforms, each at its
    place. The edits behind the last policy are made together with those of the model, which also
    edits responses. The gateway's own answers are not edited."""
    steps = [*route.guards.written]
    if route.answer is not None:
        return parts.shared.policies([step for step in steps if isinstance(step, PolicyStep)])
    stages: list[Stage] = []
    skip = 0  # transforms whose edits have been made
    for is_transform, group in groupby(steps, lambda step: isinstance(step, TransformConfig)):
        run = [*group]
        if not is_transform:
            stages += parts.shared.policies([s for s in run if isinstance(s, PolicyStep)])
        elif run[-1] is not steps[-1]:
            stages.append(
                _edit_stage([s for s in run if isinstance(s, TransformConfig)], route, parts)
            )
            skip += len(run)
    return [*stages, *_transform_stage(route, parts, skip)]


def judging_stages(route: Route, parts: Parts) -> tuple[list[Stage], list[Stage], list[Stage]]:
    """The stages that judge a request of a batch, whose caller is known and which is sent nowhere
    by itself: those before its schema, the schema, and those behind it."""
    checks, shared, guards = _checks(route), parts.shared, route.guards
    before = [*_receiving_stages(route, checks, parts), *shared.policies(guards.models)]
    behind = [*_written_stages(route, parts), *object_stages(route, parts)]
    return [*shared.policies(guards.early), *before], shared.validate_body(checks), behind


def _edit_stage(configs: Sequence[TransformConfig], route: Route, parts: Parts) -> Stage:
    """Makes edits of requests before a policy judges them."""
    transforms, operation = _for_route(configs, route, parts), route.operation
    locations = route.model_locations
    return parts.shared.once_unhashable(
        "edit",
        (locations, operation.bodies),
        transforms,
        lambda: edit(transforms, operation, locations),
    )


def _transform_stage(route: Route, parts: Parts, skip: int) -> list[Stage]:
    """Makes the edits of policies and models, if the config has any. The first `skip` transforms of
    policies have edited the request before."""
    models = parts.models_with_transform if route.model is not None else ()
    if not (models or route.guards.transforms):
        return []
    of_models = {model.name: _for_route(model.transform, route, parts) for model in models}
    of_route = _for_route(route.guards.transforms, route, parts)
    locations = route.model_locations
    strict, operation = route.validate == "strict", route.operation
    written = tuple(config.at for config in route.guards.transforms)  # the log names them
    return [
        parts.shared.once_unhashable(
            "transform",
            (strict, locations, operation.parameters, operation.bodies, written, skip),
            (of_route, of_models),
            lambda: transform(
                of_route, of_models, operation, strict=strict, locations=locations, skip=skip
            ),
        )
    ]


def _for_route(configs: Iterable[TransformConfig], route: Route, parts: Parts) -> list[Transform]:
    """The transforms with the edits whose place the operation has."""
    node = parts.plan.specifications[route.operation.spec].node(route.operation)
    return [for_operation(_compiled(config, parts), node) for config in configs]


def _compiled(config: TransformConfig, parts: Parts) -> Transform:
    """A transform of the config, compiled once: its place is that of no other."""
    (compiled,) = parts.shared.once(
        "compiled", config.at, lambda: compile_all([config], upstream=False)
    )
    return compiled


def _last_handler(route: Route, operation: ModelOperation, parts: Parts) -> Handler:
    """The last handler: an answer of the gateway's own, or an upstream, by HTTP or WebSocket."""
    once, names = parts.shared.once, tuple(dialect.name for dialect in route.dialects)
    if route.answer is not None:
        variable = next(iter(path_templates.variables(route.operation.path)), "")
        socket, limits = _socket(route, parts)
        sources = AnswerSources(
            parts.visible_models,
            route.dialects,
            variable,
            parts.services.client_secrets,
            parts.services.clock,
            session_routes(parts.plan.routes, route.dialects[-1]),
            socket,
            once("usage", (), partial(usage_of, parts)),
        )
        settings: Hashable = route.answer.name, names, variable, limits
        return once("answer", settings, partial(route.answer.handler, sources))
    if route.respond is not None:
        return once("respond", route.respond, partial(route_response, route.respond))
    forward = forward_of(route, operation, parts)
    if route.model is not None and operation.counts:
        settings = operation.counts, forward
        return once("estimate", settings, partial(estimate_tokens, operation, forward))
    if route.websocket is None:
        return forward
    dialect, limits = route.dialects[-1], session_limits(route.websocket)
    return once(
        "converse",
        (forward, dialect.name, limits),
        partial(converse, forward, dialect, limits, parts.sessions),
    )


def session_limits(websocket: WebSocket) -> SessionLimits:
    """The limits of sessions, as the config says."""
    return SessionLimits(**asdict(websocket))


def _socket(route: Route, parts: Parts) -> tuple[Handler | None, SessionLimits | None]:
    """The handler of a WebSocket whose messages are requests, and its limits; None for another
    operation."""
    if route.answer is None or not route.answer.is_websocket or route.websocket is None:
        return None, None
    limits = session_limits(route.websocket)
    settings = SocketSettings(route.dialects[-1], limits, parts.plan.config.server.max_body)
    return parts.sockets.handler(settings), limits


def session_routes(routes: Iterable[Route], dialect: Dialect) -> tuple[SessionRoute, ...]:
    """The routes of a dialect whose sessions client secrets open."""
    return tuple(
        SessionRoute(route.operation.id, route.default_model)
        for route in routes
        if route.client_secrets is not None and route.dialects[-1] is dialect
    )


def _mirror_stage(route: Route, parts: Parts) -> list[Stage]:
    """Sends copies of requests, on routes to models of which one has a mirror. A rehearsal, and a
    process that serves large requests only, send none."""
    serves = parts.services.background and parts.services.turns is None
    models = parts.plan.config.models.values()
    has_mirrors = route.model is not None and any(model.mirror is not None for model in models)
    if not (serves and has_mirrors) or route.websocket is not None or route.answer is not None:
        return []
    if route.objects is not None:
        return []
    operation, lists = route.by_model, _region_lists(route)
    is_regional = bool(lists) or parts.plan.config.requires_regions
    within = RegionalModels(lists, may_lack=False).of if is_regional else None
    forward = forward_of(replace(route, hedge=None), operation, parts)
    metered = [parts.shared.meter(route)] if parts.metered else []
    send = compose([parts.lifecycle.observe, answer_errors, *metered], forward)
    return [parts.mirrors.stage(send, operation, within)]


def forward_of(route: Route, operation: ModelOperation, parts: Parts) -> Handler:
    """Sends requests to the targets of their model, or to the fixed ones."""
    tables = None if route.model is None else parts.translations
    translations = RouteTranslations(operation, tables, parts.services.clock, parts.summaries)
    dialect = route.dialects[-1]
    declared = tuple(p.name for p in route.operation.parameters if p.location == "header")
    make: Callable[..., Forward] = Forward
    if route.objects is not None and parts.opener is not None:
        config = parts.plan.config
        batches = batch_route(route, parts)
        objects = ObjectRoute(
            *(route.objects, parts.opener, config.objects.owner, config.server, batches)
        )
        kind = ObjectForward if route.objects.lists is None else ListForward
        make = partial(kind, objects=objects)
        if route.objects.turns == "create" and parts.responses is not None:
            make = partial(StoredResponseForward, objects=objects, responses=parts.responses)

    def build() -> Forward:
        choice, lists = choose.build(parts.services, route.choose), _region_lists(route)
        group = fixed_targets(route.to, parts.upstreams, choice)
        fixed: TargetGroup | RegionalGroup = group
        parts.health.watch([group])
        if route.to and (lists or parts.plan.config.requires_regions):
            fixed = RegionalGroup(group, lists)
        return make(
            route.model,
            fixed=fixed,
            dialect=dialect,
            headers=parts.headers,
            services=parts.services,
            watcher=parts.watcher,
            translations=translations or None,
            declared=declared,
            declared_responses=route.operation.response_headers,
            debug=parts.plan.config.server.debug_headers,
            priority=route.priority,
            hedge=route.hedge,
        )

    if _has_own_targets(route):
        return build()
    settings = (
        *(route.model, _targets(route), dialect.name, declared, route.operation.response_headers),
        *(parts.models.operations.kind(operation), translations.stream, route.priority),
        *(translations.compacts, route.objects, route.regions),
    )
    return parts.shared.once("forward", settings, build)


def _has_own_targets(route: Route) -> bool:
    """Whether the last handler keeps state that must not be mixed with that of other routes: the
    answer times of a hedged route, and the waits for a slot at a target of it."""
    return route.hedge is not None or any(to.max_in_flight is not None for to in route.to)


def _targets(route: Route) -> Hashable:
    """The fixed targets and their strategy, with the places of transforms, which the log names."""
    places = tuple(transform.at for to in route.to for transform in to.transform)
    options = json.dumps(route.choose.options, sort_keys=True)
    return route.to, places, route.choose.strategy, options
