"""Checks of the targets of routes and models: queues without effect, unsafe hedging, mirrors that
copy nothing, an `affinity` without a value in requests, `cheapest` without prices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.config.config import Config
from engine.config.model_operation import ModelOperation
from engine.config.models import Choice, MirrorConfig, Model, TargetConfig
from engine.config.prices import prices_of
from engine.plan.plan import ServedConfig
from engine.plan.route import Route
from engine.source.problem import Findings, Level, Path
from engine.source.suggestion import did_you_mean
from engine.spec.request_locations import LOCATION_KINDS, Presence, find_location, unnamed
from engine.upstream import choose
from engine.upstream.attempts.mirror import is_copied
from engine.values.price_list import Prices
from engine.values.units import format_names
from engine.values.wildcard import Patterns, matches


def check_choices(served: ServedConfig, findings: Findings) -> None:
    """Note strategies that need a value which requests do not have, or a price that is missing."""
    config, operations = served.config, served.operations
    prices = prices_of(config)
    by_id = {route.operation.id: route for route in served.routes}
    groups: dict[int, list[Route]] = {}  # thousands of models may have the same operations
    for name, model in config.models.items():
        group = operations.group(name)
        if group not in groups:
            groups[group] = [by_id[op.id] for op in operations.of(name) if op.id in by_id]
        for branch in model.branches:
            _check_location(branch.choose, f"model '{name}'", groups[group], served, findings)
            _check_prices(branch.choose, name, branch.to, prices, config, findings)
    routes_by_entry: dict[Path, list[Route]] = {}
    for route in served.routes:
        if route.to:
            routes_by_entry.setdefault(route.choose.at, []).append(route)
    for routes in routes_by_entry.values():
        choice, targets = routes[0].choose, routes[0].to
        _check_location(choice, "this route", routes, served, findings)
        _check_prices(choice, "", targets, prices, config, findings)


def _check_location(
    choice: Choice, owner: str, routes: Sequence[Route], served: ServedConfig, findings: Findings
) -> None:
    """Note a location that no operation names, unless it is a header."""
    options = choose.compiled(choice)
    expression = options.expression if options is not None else None
    if expression is None or expression.location == "header" or not routes:
        return
    locations = [
        find_location(route.operation, served.node(route), expression)
        for route in routes
        if not (expression.location == "body" and route.websocket is not None)
    ]
    if any(location.presence is Presence.NAMED for location in locations):
        return
    level, names = unnamed(expression, locations)
    kind = LOCATION_KINDS[expression.location]
    message = f"no operation of {owner} has a {kind} '{expression.param}'"
    remedy = "requests without it go to the less busy target"
    if level is Level.ERROR:
        remedy = "name another location"
    hint = did_you_mean(expression.steps[-1], names, remedy)
    findings.note(served.config.source, choice.at, level, "MW382", message, hint)


def _check_prices(
    choice: Choice,
    model: str,
    targets: Iterable[TargetConfig],
    prices: Prices,
    config: Config,
    findings: Findings,
) -> None:
    """Note targets without a price if the strategy compares prices. Prices under a wildcard depend
    on the requested model."""
    if not choose.kind_of(choice).by_price or "*" in model:
        return
    price_of = {
        f"{target.upstream}/{target.model or model}": prices.find(
            model, target.upstream, target.model or model
        )
        for target in targets
    }
    unpriced = [name for name, price in price_of.items() if price is None]
    upstream, _, price_name = next(iter(price_of)).partition("/")
    example = f"prices: {{{upstream}/{price_name or 'NAME'}: {{input: 1, output: 2}}}}"
    if len(unpriced) == len(price_of):
        message, hint = "no target has a price to compare", f"write {example}"
        if not price_name:
            hint = f"name its model, {{upstream: {upstream}, model: NAME}}, and {hint}"
        findings.error(config.source, choice.at, "MW383", message, hint)
    elif unpriced:
        message = f"{', '.join(unpriced)}: no price is known, so it is tried last"
        findings.note(config.source, choice.at, Level.WARNING, "MW430", message, f"write {example}")
    elif len({id(price) for price in price_of.values()}) == 1 < len(price_of):
        message = "all targets have the same price, that of the model"
        hint = f"a target has a price of its own under its name: {example}"
        findings.note(config.source, choice.at, Level.WARNING, "MW431", message, hint)


_MAX_NAMED = 5


def check_mirrors(served: ServedConfig, findings: Findings) -> None:
    """Note mirrors without effect, names of operations that do not exist, and operations that no
    target of a mirror has."""
    routes = {route.operation.id: route for route in served.routes}
    for model in served.config.models.values():
        if model.mirror is not None:
            _check(model, model.mirror, routes, served, findings)


def _check(
    model: Model,
    mirror: MirrorConfig,
    routes: dict[str, Route],
    served: ServedConfig,
    findings: Findings,
) -> None:
    source = served.config.source
    operations = [op for op in served.operations.of(model.name) if op.id in routes]
    for index, name in enumerate(mirror.operations):
        if not any(matches(op.id, name) for op in operations):
            message = f"model '{model.name}' has no operation '{name}'"
            hint = did_you_mean(name, [op.id for op in operations], "remove it")
            at = (*mirror.at, "operations", index)
            findings.error(source, at, "MW548", message, hint)
    copied = _copied(operations, mirror, routes)
    if not copied:
        message = "nothing is copied: no operation of the model is known to have no side effects"
        hint = "name them under `operations`, if sending them twice does no harm"
        findings.note(source, mirror.at, Level.WARNING, "MW548", message, hint, key=True)
    upstreams, language = served.config.upstreams, served.operations.language
    dialects = {upstreams[target.upstream].dialect for target in mirror.to}
    missing = [
        op.id for op in copied if all(language(model.name, name, op) is None for name in dialects)
    ]
    if missing:
        message = f"no target of the mirror has {format_names(missing, _MAX_NAMED)}"
        hint = "add a target that has them; they are not copied"
        findings.note(source, (*mirror.at, "to"), Level.WARNING, "MW549", message, hint, key=True)


def _copied(
    operations: Sequence[ModelOperation], mirror: MirrorConfig, routes: dict[str, Route]
) -> list[ModelOperation]:
    """The operations that are copied."""
    patterns = Patterns(mirror.operations)
    return [
        op
        for op in operations
        if (is_copied(op) or patterns.match(op.id))
        and routes[op.id].websocket is None
        and routes[op.id].objects is None
    ]


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
