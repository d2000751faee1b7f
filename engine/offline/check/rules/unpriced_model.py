"""Spending limits that do not count models without a price."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.config.listed_models import ListedModel, ListedModels
from engine.config.models import Model
from engine.config.prices import priced_provider
from engine.offline.check.audit import AuditCase
from engine.values.price import Price
from engine.values.wildcard import ByName

_MAX_WARNINGS = 20
_MAX_NAMES = 3


def check(case: AuditCase) -> None:
    prices = ByName(case.config.prices)
    listed = ListedModels(case.config)
    # A wildcard is priced by a wildcard that matches all of its names.
    free = [
        (model, words)
        for model in case.config.models.values()
        if prices.find(model.name.replace("*", "\0")) is None
        and (words := _free(model, case, prices, listed))
        and case.limits_money_of(model)
    ]
    hint = f"add it to `prices`, in {case.config.currency}"
    for number, (model, words) in enumerate(free[:_MAX_WARNINGS], 1):
        message = f"spending is limited, but {words}"
        if number == _MAX_WARNINGS and len(free) > _MAX_WARNINGS:
            message += f"; so do {len(free) - _MAX_WARNINGS} more"
        case.warn(model.at, "MW409", message, hint, key=True)


def _free(
    model: Model,
    case: AuditCase,
    prices: ByName[Price],
    listed: Mapping[str, ListedModel],
) -> str:
    """The sentence that says which names of a model count as free; "" if none do."""
    names: list[str] = []
    for target in model.answering:
        if f"{target.upstream}/{target.model or model.name}" in case.config.prices:
            continue
        provider = priced_provider(case.config.upstreams[target.upstream].provider, case.config)
        if provider is None:
            return f"'{model.name}' has no price and counts as free"
        if "*" not in model.name:
            facts = provider.models.get(target.model or model.name)
            if facts is None or facts.price is None:
                return f"'{model.name}' has no price and counts as free"
        elif target.model in ("", "*"):
            names += [name for name in _unpriced(model, listed) if prices.find(name) is None]
    if not names:
        return ""
    text = ", ".join(f"'{name}'" for name in names[:_MAX_NAMES])
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    verbs = "has no price and counts" if len(names) == 1 else "have no price and count"
    return f"{text}{more} of '{model.name}' {verbs} as free"


def _unpriced(model: Model, listed: Mapping[str, ListedModel]) -> Iterator[str]:
    """The models that a wildcard lists and that have no price of their provider."""
    for name, entry in listed.items():
        facts = entry.provider_model
        if entry.entry is model and facts is not None and facts.price is None:
            yield name
