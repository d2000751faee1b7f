"""A token or an allow list that names models which do not exist: often a typo."""

from __future__ import annotations

from engine.offline.check.audit import AuditCase
from engine.source.problem import Path
from engine.source.suggestion import did_you_mean
from engine.values.wildcard import matches


def check(case: AuditCase) -> None:
    for policy in case.listed_policies:
        if policy.name == "allow_models":
            for index, name in enumerate(policy.options):
                _check(case, name, (*policy.at, index))
    for caller, at in case.config.callers():
        for index, name in enumerate(caller.models or ()):
            _check(case, name, (*at, "models", index))
    for team in case.config.teams.by_name.values():
        for index, name in enumerate(team.models or ()):
            _check(case, name, ("teams", team.name, "models", index))


def _check(case: AuditCase, name: str, at: Path) -> None:
    models = case.config.models
    if name in models or any(matches(model, name) or matches(name, model) for model in models):
        return
    case.warn(at, "MW412", f"'{name}' matches no model of the config", did_you_mean(name, models))
