"""Health checks of an upstream that has no alternative: they have no effect on requests."""

from __future__ import annotations

from engine.config.config import Config
from engine.offline.check.audit import AuditCase


def check(case: AuditCase) -> None:
    with_alternative = _with_alternative(case.config)
    for upstream in case.config.upstreams.values():
        if upstream.health is None or upstream.name in with_alternative:
            continue
        if upstream.resolve is not None:
            continue  # each of its addresses is a target
        message = f"health checks of upstream '{upstream.name}' change nothing: "
        message += "no model and no route has another target to ask instead"
        hint = "add a target or a fallback; or ignore this, to have the metric alone"
        case.warn((*upstream.at, "health"), "MW435", message, hint, key=True)


def _with_alternative(config: Config) -> set[str]:
    """The upstreams with a target for which there is an alternative."""
    models = config.models
    targets = [
        [*branch.to, *(target for name in branch.fallback for target in models[name].to)]
        for model in models.values()
        for branch in model.branches
    ]
    targets += [[*route.to] for route in config.routes]
    return {target.upstream for group in targets if len(group) > 1 for target in group}
