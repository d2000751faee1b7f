"""Checks of `mirror` of models: something is copied, and its targets can get it."""

from __future__ import annotations

from collections.abc import Sequence

from engine.config.model_operation import ModelOperation
from engine.config.models import MirrorConfig, Model
from engine.plan.route import Route, ServedConfig
from engine.source.problem import Findings, Level
from engine.source.suggestion import did_you_mean
from engine.upstream.attempts.mirror import is_copied
from engine.values.units import format_names
from engine.values.wildcard import Patterns, matches

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
