"""A model that no route serves: none speaks the dialect of its upstreams."""

from __future__ import annotations

from engine.offline.check.audit import AuditCase


def check(case: AuditCase) -> None:
    by_fallback = {name for model in case.config.models.values() for name in model.fallbacks}
    for model in case.config.models.values():
        if model.name not in by_fallback and not case.routes_for(model):
            message = f"model '{model.name}' is served by no route"
            hint = "its upstreams' dialect has no route with `model:`; add one, or remove the model"
            case.warn(model.at, "MW406", message, hint, key=True)
