"""A wildcard model without a budget: callers may use any model of the upstream, at any price."""

from __future__ import annotations

from engine.offline.check.audit import BUDGETS, AuditCase
from engine.values.caller import Caller


def check(case: AuditCase) -> None:
    has_unbounded_caller = case.config.stores.records is not None or any(
        _unbounded(caller) for caller, _ in case.config.callers()
    )
    for model in case.config.models.values():
        if "*" not in model.name:
            continue
        unbounded = [entry for entry in case.routes_for(model) if not BUDGETS & entry.kinds]
        if any(has_unbounded_caller or entry.route.allows_anonymous for entry in unbounded):
            message = f"no budget bounds the cost of '{model.name}'"
            hint = "add the policy spend_limit or token_budget, or list the models by name"
            case.warn(model.at, "MW405", message, hint, key=True)


def _unbounded(caller: Caller) -> bool:
    limits = [*caller.limits, *(limit for team in caller.teams for limit in team.limits)]
    return () not in caller.model_lists and not any(limit.kind in BUDGETS for limit in limits)
