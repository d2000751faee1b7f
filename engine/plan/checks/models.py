"""Checks of models: they can have the operations in `models.x.operations`, default models have the
operation of their route, and requests can meet the conditions of `when`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from engine.config.config import Config
from engine.config.model_operation import ModelOperation, join_operation_names
from engine.config.models import Model, RuleConfig
from engine.config.operations_by_model import ModelOperations
from engine.plan.checks.policies import is_possible
from engine.plan.plan import ServedConfig
from engine.plan.route import Route
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
from engine.spec.spec import Specification
from engine.upstream.conditions.compile import compile_conditions
from engine.values.units import format_names
from engine.values.wildcard import ByName, matches

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


def check_operations(
    config: Config,
    operations: Callable[[], ModelOperations],
    routes: Iterable[Route],
    specifications: Mapping[str, Specification],
    findings: Findings,
) -> None:
    """Note each name in `models.x.operations` that does not exist or that the model can never have,
    and each default model without the operation of its route. `operations` returns those of each
    model; it is called only if the names in the config exist."""
    if len(specifications) < len(config.specs) or not _is_complete(config):
        return  # the names may be in the missing parts
    operation_ids = frozenset(
        op.id for spec in specifications.values() for op in spec.operations.values()
    )
    refused = [f"{spec.name}.{each}" for spec in specifications.values() for each in spec.refusals]
    table = operations()
    for model in config.models.values():
        for index, name in enumerate(model.operations):
            if any(matches(operation, name) for operation in refused):
                continue  # the finding of the document says why
            problem = _problem(name, model, operation_ids, table)
            if problem is not None:
                findings.note(config.source, (*model.at, "operations", index), *problem)
    entries = ByName(config.models)
    for route in routes:
        entry = entries.find(route.default_model) if route.default_model else None
        if entry is not None and not table.has(entry.name, route.by_model):
            name = route.default_model
            message = f"the default model '{name}' does not have {route.operation.id}"
            hint = f"it has {join_operation_names(table.of(entry.name))}"
            at = (*route.at[:2], "model", "default")
            findings.error(config.source, at, "MW342", message, hint)


def _is_complete(config: Config) -> bool:
    """Whether no entry was left out, and models name only upstreams and models that exist."""
    return not config.invalid.names and all(
        all(target.upstream in config.upstreams for target in model.targets)
        and all(name in config.models for name in model.fallbacks)
        for model in config.models.values()
    )


def _problem(
    name: str, model: Model, operation_ids: frozenset[str], table: ModelOperations
) -> tuple[Level, str, str, str] | None:
    """Level, code, message and hint for a name under `operations` that matches no operation of the
    model; None for a valid name."""
    if any(matches(operation.id, name) for operation in table.of(model.name)):
        return None
    if any(matches(operation.id, name) for operation in table.all):
        message = f"no upstream of '{model.name}' speaks the dialect of {name}"
        return Level.WARNING, "MW341", message, "remove it, or add a target that speaks it"
    if any(matches(operation, name) for operation in operation_ids):
        message = f"{name} is not routed by model"
        return Level.WARNING, "MW341", message, "remove it, or give it a route with 'model'"
    if "*" in name:
        message, code = f"'{name}' matches no operation", "MW302"
    else:
        message, code = f"unknown operation '{name}'", "MW301"
    return Level.ERROR, code, message, did_you_mean(name.rstrip(".*"), operation_ids)
