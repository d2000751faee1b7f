"""A price that no model has: it is misspelt, its model was renamed, or its team may not use it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.config.config import Config
from engine.config.joined_document import earlier_name
from engine.config.models import STAR
from engine.offline.check.audit import AuditCase
from engine.source.suggestion import did_you_mean
from engine.values.caller import Caller
from engine.values.wildcard import matches


def check(case: AuditCase) -> None:
    models = [*case.config.models]
    names = [*models, *dict.fromkeys(_targets(case))]
    for name in case.config.prices:
        if not any(_priced(name, other) for other in names):
            hint = earlier_name(case.config.source, "prices", name) or _hint(name, names)
            message = f"'{name}' is no model of the config: the price is never used"
            case.warn(("prices", name), "MW471", message, hint, key=True)
    for team, prices in case.config.team_prices.items():
        for name in prices.models:
            if problem := _never_used(name, team, names, case.config):
                at = ("teams", team, "prices", "models", name)
                case.warn(
                    at, "MW561", f"{problem}: the price is never used", _hint(name, names), key=True
                )


def _never_used(name: str, team: str, names: Sequence[str], config: Config) -> str:
    """Why no member of a team ever pays a price; "" if one may."""
    if not any(_priced(name, other) for other in names):
        return f"'{name}' is no model of the config"
    member = config.teams.member(Caller("", team=team))
    models = [model for model in config.models if _priced(name, model)]
    if models and not any("*" in model or member.may_use(model) for model in models):
        return f"team '{team}' may not use '{name}'"
    return ""


def _hint(name: str, names: Sequence[str]) -> str:
    return did_you_mean(name, names, "write the name of a model, or upstream/model")


def _priced(name: str, model: str) -> bool:
    """Whether a price may apply to a name or wildcard."""
    return matches(model, name) or matches(name, model)


def _targets(case: AuditCase) -> Iterator[str]:
    """The names of all targets, as `prices` has them."""
    for model in case.config.models.values():
        for target in model.targets:
            own_name = model.name if target.model in ("", STAR) else target.model
            yield f"{target.upstream}/{own_name if target.model != STAR else STAR}"
