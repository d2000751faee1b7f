"""The last handler of a route: an answer of the gateway's own, or an upstream, by HTTP or
WebSocket. What tells callers of their usage is made when it is first asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cached_property, partial
from typing import Any

from msgspec.structs import asdict

from engine.app.routes.worker_parts import Parts
from engine.callers.caller_usage import CallerUsage
from engine.callers.limits.held_limits import OwnLimits
from engine.config.model_operation import ModelOperation
from engine.config.routes import WebSocket
from engine.dialects import Dialect
from engine.edge.answers.own_answer import AnswerSources, SessionRoute
from engine.edge.fixed_response import route_response
from engine.exchange.exchange import Handler
from engine.plan.route import Route
from engine.relay.websocket.open_sessions import SessionLimits
from engine.sockets.upgrade import SocketSettings
from engine.spec.document import path_templates
from engine.stores.usage_query import UsageQuery
from engine.upstream import choose
from engine.upstream.forward import Forward
from engine.upstream.models.build_catalog import fixed_targets
from engine.upstream.models.regional_targets import RegionalGroup
from engine.upstream.models.token_counter import estimate_tokens
from engine.upstream.requests.translated_request import RouteTranslations
from engine.upstream.targets.target_groups import TargetGroup
from engine.upstream.websockets.websocket_forward import converse, upgrade_or_http
from engine.values.caller import AllowLists, Caller


def last_handler(route: Route, operation: ModelOperation, parts: Parts) -> Handler:
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
            once("usage", (), partial(LazyUsage, parts)),
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
    make = partial(converse, forward, dialect, limits, parts.sessions, forward.session_edits)
    session = once("converse", (forward, dialect.name, limits), make)
    if not route.operation.is_http:
        return session
    return once("upgrade", session, partial(upgrade_or_http, session, forward))


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


def forward_of(route: Route, operation: ModelOperation, parts: Parts) -> Forward:
    """Sends requests to the targets of their model, or to the fixed ones."""
    tables = None if route.model is None else parts.translations
    translations = RouteTranslations(operation, tables, parts.services.clock, parts.summaries)
    dialect = route.dialects[-1]
    declared = tuple(p.name for p in route.operation.parameters if p.location == "header")
    make = _forward_class(route, parts)

    def build() -> Forward:
        choice, lists = choose.build(parts.services, route.choose), region_lists(route)
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

    if has_own_targets(route):
        return build()
    settings = (
        *(route.model, _targets(route), dialect.name, declared, route.operation.response_headers),
        *(parts.models.operations.kind(operation), translations.stream, route.priority),
        *(translations.compacts, route.objects, route.regions),
    )
    return parts.shared.once("forward", settings, build)


def _forward_class(route: Route, parts: Parts) -> Callable[..., Forward]:
    """What makes the handler: of an operation with objects, one that seals their ids."""
    if route.objects is None or parts.opener is None:
        return Forward
    from engine.app.routes.batch_stages import batch_route
    from engine.upstream.objects.object_forward import ObjectForward, ObjectRoute
    from engine.upstream.objects.object_lists import ListForward
    from engine.upstream.objects.stored_response_forward import StoredResponseForward

    config = parts.plan.config
    objects = ObjectRoute(
        *(route.objects, parts.opener, config.objects.owner, config.server),
        batch_route(route, parts),
    )
    if route.objects.turns == "create" and parts.responses is not None:
        return partial(StoredResponseForward, objects=objects, responses=parts.responses)
    return partial(ObjectForward if route.objects.lists is None else ListForward, objects=objects)


def has_own_targets(route: Route) -> bool:
    """Whether the last handler keeps state that must not be mixed with that of other routes: the
    answer times of a hedged route, and the waits for a slot at a target of it."""
    return route.hedge is not None or any(to.max_in_flight is not None for to in route.to)


def _targets(route: Route) -> Hashable:
    """The fixed targets and their strategy, with the places of transforms, which the log names."""
    places = tuple(transform.at for to in route.to for transform in to.transform)
    options = json.dumps(route.choose.options, sort_keys=True)
    return route.to, places, route.choose.strategy, options


def region_lists(route: Route) -> AllowLists:
    """The regions that a route requires of its targets."""
    return () if route.regions is None else (route.regions,)


class LazyUsage:
    """The usage of the callers of a worker."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @cached_property
    def _usage(self) -> CallerUsage:
        plan, services = self._parts.plan, self._parts.services
        rules = (rule for route in plan.routes for rule in route.guards.rules)
        return CallerUsage(
            OwnLimits(rules, [*plan.config.models]),
            services.counters,
            services.usage_sums,
            services.currency,
            [tag.name for tag in plan.config.tags],
            services.clock,
        )

    def sums(self, caller: Caller, query: UsageQuery, /) -> Mapping[str, Any]:
        return self._usage.sums(caller, query)

    def requests(self, caller: Caller, after: str, limit: int, /) -> Mapping[str, Any]:
        return self._usage.requests(caller, after, limit)
