"""Checks of the policies `deny` and `guard`: the locations and webhooks that they name exist,
requests can meet the conditions, and what is guarded can be judged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from engine.config.config import Config
from engine.config.routes import Policy
from engine.plan.route import Route
from engine.policies.deny import Deny, read
from engine.source.problem import Findings, Level, Path
from engine.source.suggestion import did_you_mean
from engine.spec.document.node import Node
from engine.spec.request_conditions import Condition
from engine.spec.request_locations import (
    LOCATION_KINDS,
    Presence,
    RequestLocation,
    find_location,
    may_match,
    unnamed,
)
from engine.spec.spec import Specification
from engine.upstream.client.address import origin_of
from engine.values.units import format_names

_MAX_NAMED = 3


class _Use(Struct, frozen=True):
    """A condition of a policy, and the routes that it guards. `lets_through`: it is under `unless`;
    `alone`: there is no `if`, so every request that does not meet it is refused."""

    condition: Condition
    at: Path
    lets_through: bool
    alone: bool
    routes: Sequence[Route]


def check_deny(
    routes: Iterable[Route],
    config: Config,
    specifications: Mapping[str, Specification],
    findings: Findings,
) -> None:
    """Note problems of the policies `deny` of routes. Policies with invalid options are skipped."""
    for use in _uses(routes):
        _Check(use, config, specifications, findings).run()


def _uses(routes: Iterable[Route]) -> Iterator[_Use]:
    guarded: dict[Path, tuple[Policy, list[Route]]] = {}
    for route in routes:
        for policy in route.policies:
            if policy.name == "deny":
                guarded.setdefault(policy.at, (policy, []))[1].append(route)
    for policy, guarded_routes in guarded.values():
        deny = _compiled(policy)
        if deny is None:
            continue
        for word, conditions in (("if", deny.conditions), ("unless", deny.exceptions)):
            for condition in conditions:
                at = (*policy.at, word, condition.location, condition.name)
                alone = word == "unless" and not deny.conditions
                yield _Use(condition, at, word == "unless", alone, guarded_routes)


def _compiled(policy: Policy) -> Deny | None:
    try:
        return read(policy.options)
    except (ValueError, TypeError, AttributeError, KeyError):  # the check of options notes it
        return None


class _Check:
    """The check of one condition at all operations that it guards."""

    def __init__(
        self,
        use: _Use,
        config: Config,
        specifications: Mapping[str, Specification],
        findings: Findings,
    ) -> None:
        self.use = use
        self.config = config
        self.specifications = specifications
        self.findings = findings

    def run(self) -> None:
        if self.use.condition.location == "body":
            self._check_bodies()
        expression = self.use.condition.expression
        if expression is None:
            return
        locations = [
            (route, find_location(route.operation, self._node(route), expression))
            for route in self.use.routes
            if not (expression.location == "body" and route.websocket is not None)
        ]
        if not locations:
            return
        if not any(location.presence is Presence.NAMED for _, location in locations):
            self._note_unnamed(locations)
            return
        condition = self.use.condition
        possible = [(route, is_possible(condition, route, each)) for route, each in locations]
        impossible = [route for route, is_possible in possible if not is_possible]
        if len(impossible) == len(possible):
            self._note_no_effect(impossible)
        elif impossible and self.use.alone:
            self._note_all_refused(impossible)

    def _node(self, route: Route) -> Node:
        return self.specifications[route.operation.spec].node(route.operation)

    def _check_bodies(self) -> None:
        """Note operations whose bodies the policy cannot read."""
        sessions = [route for route in self.use.routes if route.websocket is not None]
        if sessions:
            message = f"a condition on the body cannot hold for {_names(sessions)}: a WebSocket"
            hint = "conditions on header, query and path apply to its handshake"
            level = Level.ERROR if len(sessions) == len(self.use.routes) else Level.WARNING
            self._note(level, "MW373", message, hint)
        opaque = [route for route in self.use.routes if _is_opaque(route)]
        if opaque:
            message = f"every body of {_names(opaque)} is refused: its media type cannot be read"
            hint = "write the policy at the routes whose bodies have this member"
            self._note(Level.WARNING, "MW373", message, hint)

    def _note_unnamed(self, locations: Sequence[tuple[Route, RequestLocation]]) -> None:
        """Note a location that no operation names."""
        condition, expression = self.use.condition, self.use.condition.expression
        assert expression is not None
        if condition.location == "header":
            return
        level, names = unnamed(expression, [location for _, location in locations])
        owners = _names([route for route, _ in locations])
        message = f"{owners} has no {LOCATION_KINDS[condition.location]} '{expression.param}'"
        hint = did_you_mean(expression.steps[-1], names, "correct the name, or remove it")
        self._note(level, "MW371", message, hint)

    def _note_no_effect(self, routes: Sequence[Route]) -> None:
        if self.use.alone:
            self._note_all_refused(routes)
            return
        effect = "this lets nothing through" if self.use.lets_through else "this refuses nothing"
        message = f"no valid request of {_names(routes)} can meet this: {effect}"
        self._note(Level.WARNING, "MW372", message, "compare it with the schema in the document")

    def _note_all_refused(self, routes: Sequence[Route]) -> None:
        message = f"no request of {_names(routes)} can meet this: all are refused"
        hint = "write the policy only at the routes for which it is meant"
        self._note(Level.WARNING, "MW372", message, hint)

    def _note(self, level: Level, code: str, message: str, hint: str) -> None:
        self.findings.note(self.config.source, self.use.at, level, code, message, hint, key=True)


def is_possible(condition: Condition, route: Route, location: RequestLocation) -> bool:
    """Whether a valid request of a route, which has this location, can meet a condition."""
    if location.presence is not Presence.NAMED:
        return location.presence is Presence.OPEN
    if route.validate != "strict":
        return True
    rule, accepts = json.loads(condition.schema), condition.validator.is_valid
    schemas = [schema for schema in location.schemas if schema.value is not None]
    return not schemas or any(may_match(schema, rule, accepts) for schema in schemas)


def _is_opaque(route: Route) -> bool:
    """Whether the operation accepts bodies, but only of media types that are not parsed."""
    bodies = route.operation.bodies
    rules = [*bodies.rules.values()]
    for media_range in bodies.ranges.values():
        rules += [*media_range.rules.values(), media_range.default]
    return bool(rules) and all(rule.parse is None for rule in rules)


def _names(routes: Sequence[Route]) -> str:
    return format_names(list(dict.fromkeys(r.operation.id for r in routes)), _MAX_NAMED)


def check_guards(routes: Iterable[Route], config: Config, findings: Findings) -> None:
    """Note problems of the policies `guard` of routes whose options match the schema."""
    guarded: dict[Path, tuple[Policy, list[Route]]] = {}
    for route in routes:
        for policy in route.policies:
            if policy.name == "guard" and isinstance(policy.options, dict):
                guarded.setdefault(policy.at, (policy, []))[1].append(route)
    for policy, of_policy in guarded.values():
        _check_webhook(policy, config, findings)
        sessions = [route.operation.id for route in of_policy if route.websocket is not None]
        if sessions:
            names = format_names(sessions, _MAX_NAMED)
            message = f"messages of {names} are not judged: a WebSocket"
            hint = "write the guard at the other routes, or remove the WebSocket's"
            findings.note(config.source, policy.at, Level.WARNING, "MW547", message, hint, key=True)


def _check_webhook(policy: Policy, config: Config, findings: Findings) -> None:
    webhook, at = policy.options.get("webhook"), (*policy.at, "webhook")
    if not isinstance(webhook, str):
        return  # the check of options notes it
    if "://" not in webhook:
        exists = webhook in config.upstreams or config.invalid.has("upstreams", webhook)
        if not exists:
            hint = did_you_mean(webhook, config.upstreams, "write a URL, https://...")
            findings.error(config.source, at, "MW313", f"unknown upstream '{webhook}'", hint)
        return
    try:
        origin_of(webhook)
    except ValueError as error:
        message = f"the webhook cannot be used: {error}"
        findings.error(config.source, at, "MW546", message, "write https://guard.example.com")
