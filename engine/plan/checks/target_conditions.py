"""Checks of `when` of models: requests can meet the conditions, and the targets have the model's
operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from engine.config.model_operation import ModelOperation
from engine.config.models import Model, RuleConfig
from engine.plan.checks.deny import is_possible
from engine.plan.route import Route, ServedConfig
from engine.source.problem import Findings, Level, Path
from engine.source.suggestion import did_you_mean
from engine.spec.request_conditions import Condition
from engine.spec.request_locations import (
    LOCATION_KINDS,
    Presence,
    RequestLocation,
    find_location,
    unnamed,
)
from engine.upstream.conditions.compile import compile_conditions
from engine.values.units import format_names

_MAX_NAMED = 5
_VERIFIED = ("caller", "team", "claim")


def check_rules(served: ServedConfig, findings: Findings) -> None:
    """Note conditions that requests of the model cannot meet, or that any caller can, and rules
    whose targets lack operations of the model."""
    by_id = {route.operation.id: route for route in served.routes}
    for model in served.config.models.values():
        if model.when:
            _ModelCheck(model, by_id, served, findings).run()


class _Location(NamedTuple):
    route: Route
    location: RequestLocation


class _ModelCheck:
    """The check of the rules of one model."""

    def __init__(
        self, model: Model, routes: Mapping[str, Route], served: ServedConfig, findings: Findings
    ) -> None:
        self.model = model
        self.served = served
        self.findings = findings
        operations = served.operations.of(model.name)
        self.operations = [operation for operation in operations if operation.id in routes]
        self.routes = [routes[operation.id] for operation in self.operations]

    def run(self) -> None:
        for rule in self.model.when:
            possible = {route.operation.id for route in self.routes}
            for condition in compile_conditions(rule.conditions).values:
                possible &= self._check_value(rule, condition)
            self._check_operations(rule, [op for op in self.operations if op.id in possible])
            self._check_trust(rule)
        self._check_operations(self.model, self.operations)

    def _check_value(self, rule: RuleConfig, condition: Condition) -> set[str]:
        """Check a condition on a value; the operations whose requests can meet it."""
        expression = condition.expression
        everywhere = {route.operation.id for route in self.routes}
        if expression is None or not self.routes:
            return everywhere
        locations = [
            _Location(route, find_location(route.operation, self.served.node(route), expression))
            for route in self.routes
            if not (expression.location == "body" and route.websocket is not None)
        ]
        possible = {r.operation.id for r, each in locations if is_possible(condition, r, each)}
        at = (*rule.at, "if", condition.location, condition.name)
        is_named = any(each.location.presence is Presence.NAMED for each in locations)
        if not is_named and condition.location != "header":
            level, names = unnamed(expression, [each.location for each in locations])
            kind = LOCATION_KINDS[condition.location]
            message = f"no operation of model '{self.model.name}' has a {kind} '{expression.param}'"
            hint = did_you_mean(
                expression.steps[-1], names, "requests without it do not meet this rule"
            )
            self._note(at, level, "MW540", message, hint)
        elif not possible:
            message = f"no valid request for model '{self.model.name}' can meet this"
            hint = "compare it with the schema in the document"
            self._note(at, Level.WARNING, "MW541", message, hint)
        return possible

    def _check_operations(
        self, branch: Model | RuleConfig, operations: Sequence[ModelOperation]
    ) -> None:
        """Note the operations of the model that none of the targets has."""
        missing = [op.id for op in operations if not op.counts and not self._serves(branch, op)]
        if not missing:
            return
        names = format_names(missing, _MAX_NAMED)
        which = "other requests" if branch is self.model else "requests that meet this rule"
        message = f"{which} for {names} are refused: these targets do not have them"
        hint = "add a target that has them, or leave them out of the `operations` of the model"
        self._note((*branch.at, "to"), Level.WARNING, "MW543", message, hint)

    def _serves(self, branch: Model | RuleConfig, operation: ModelOperation) -> bool:
        """Whether a target of a branch, or a fallback of it, has an operation."""
        language, upstreams = self.served.operations.language, self.served.config.upstreams
        dialects = {upstreams[target.upstream].dialect for target in branch.to}
        if any(language(self.model.name, name, operation) is not None for name in dialects):
            return True
        return any(self.served.operations.has(name, operation) for name in branch.fallback)

    def _check_trust(self, rule: RuleConfig) -> None:
        """Note that any caller can meet a rule by a header."""
        if "header" in rule.conditions and not any(key in rule.conditions for key in _VERIFIED):
            message = "any caller can send this header, and so choose these targets"
            hint = "name the callers that are believed: `caller: [frontend]` beside `header`"
            self._note((*rule.at, "if", "header"), Level.INFO, "MW544", message, hint)

    def _note(self, at: Path, level: Level, code: str, message: str, hint: str) -> None:
        self.findings.note(self.served.config.source, at, level, code, message, hint, key=True)
