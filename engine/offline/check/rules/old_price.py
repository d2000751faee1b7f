"""Spending limits that depend on old prices of a provider."""

from __future__ import annotations

from engine.config.prices import priced_provider
from engine.config.providers import MAX_AGE
from engine.offline.check.audit import AuditCase
from engine.values.wildcard import ByName


def check(case: AuditCase) -> None:
    prices = ByName(case.config.prices)
    used = {
        target.upstream
        for model in case.config.models.values()
        if prices.find(model.name.replace("*", "\0")) is None and case.limits_money_of(model)
        for target in model.answering
    }
    for name in sorted(used):
        provider = priced_provider(case.config.upstreams[name].provider, case.config)
        age = (case.today - provider.date).days if provider is not None else 0
        if provider is not None and age > MAX_AGE:
            message = (
                f"spending is limited by prices of provider '{provider.name}' of {provider.date}, "
                f"{age} days ago"
            )
            hint = f"compare them with {provider.documentation}; write what changed into `prices`"
            case.warn(("upstreams", name, "provider"), "MW417", message, hint)
