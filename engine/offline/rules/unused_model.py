"""A model that no request can come to: no route speaks what its upstreams speak."""

from __future__ import annotations

from engine.offline.audit import Case


def check(case: Case) -> None:
    by_fallback = {name for model in case.config.models.values() for name in model.fallback}
    for model in case.config.models.values():
        if model.name not in by_fallback and not case.asked(model):
            message = f"model '{model.name}' can be asked for on no route"
            hint = "its upstreams' dialect has no route with `model:`; add one, or take it out"
            case.warn(model.at, "MW406", message, hint, key=True)
