"""Checks of `choose`: `affinity` needs a value in requests, `cheapest` needs prices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.config.config import Config
from engine.config.default_prices import prices_of
from engine.config.models import Choice, TargetConfig
from engine.plan.route import Route, ServedConfig
from engine.source.problem import Findings, Level, Path
from engine.source.suggestion import did_you_mean
from engine.spec.request_locations import LOCATION_KINDS, Presence, find_location, unnamed
from engine.upstream import choose
from engine.values.price_list import Prices


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
