"""Checks that models can have the operations in `models.x.operations`, and default models the
operation of their route."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from engine.config.config import Config
from engine.config.model_operation import join_operation_names
from engine.config.models import Model
from engine.config.operations_by_model import ModelOperations
from engine.plan.route import Route
from engine.source.problem import Findings, Level
from engine.source.suggestion import did_you_mean
from engine.spec.spec import Specification
from engine.values.wildcard import ByName, matches


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
