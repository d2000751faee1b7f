"""A hedged route whose requests have no second target: nothing is ever hedged."""

from __future__ import annotations

from engine.offline.check.audit import AuditCase


def check(case: AuditCase) -> None:
    places: set[object] = set()
    models = case.config.models.values()
    several = any(
        len(each.to) + len(each.fallback) > 1 for model in models for each in model.branches
    )
    for route in case.plan.routes:
        at = (*route.at[:2], "hedge")
        has_second = several if route.model is not None else len(route.to) > 1
        if route.hedge is not None and not has_second and at not in places:
            places.add(at)
            message = f"requests of {route.operation.id} have no second target, and are not hedged"
            hint = "add a target to `to`, or remove 'hedge'"
            case.warn(at, "MW440", message, hint, key=True)
