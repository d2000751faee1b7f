"""Spending limits that models without a price evade."""

from __future__ import annotations

from engine.offline.audit import AuditCase
from engine.values.quota import KINDS
from engine.values.wildcard import ByName

_MOST = 20
_MONEY = frozenset(name for name, kind in KINDS.items() if kind.money)


def check(case: AuditCase) -> None:
    prices = ByName(case.config.prices)
    by_token = any(
        limit.kind in _MONEY for caller in case.config.tokens.values() for limit in caller.limits
    )
    # A wildcard is priced by a wildcard that matches all of its names.
    free = [
        model
        for model in case.config.models.values()
        if prices.find(model.name.replace("*", "\0")) is None
        and any(by_token or _MONEY & route.kinds for route in case.routes_for(model))
    ]
    for number, model in enumerate(free[:_MOST], 1):
        message = f"spending is limited, but '{model.name}' has no price and counts as free"
        if number == _MOST and len(free) > _MOST:
            message += f"; so do {len(free) - _MOST} more"
        case.warn(model.at, "MW409", message, "add it to `prices`", key=True)
