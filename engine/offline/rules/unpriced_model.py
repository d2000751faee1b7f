"""Money that is limited, and models that cost nothing because no price is known."""

from __future__ import annotations

from engine.offline.audit import Case
from engine.values.quota import KINDS
from engine.values.wildcard import ByName

_MOST = 20
_MONEY = frozenset(name for name, kind in KINDS.items() if kind.money)


def check(case: Case) -> None:
    prices = ByName(case.config.prices)
    by_token = any(
        limit.kind in _MONEY for caller in case.config.tokens.values() for limit in caller.limits
    )
    # A wildcard is priced by a wildcard that takes in all of its names.
    free = [
        model
        for model in case.config.models.values()
        if prices.find(model.name.replace("*", "\0")) is None
        and any(by_token or _MONEY & asked.kinds for asked in case.asked(model))
    ]
    for number, model in enumerate(free[:_MOST], 1):
        message = f"spending is limited, but '{model.name}' has no price: it counts as free"
        if number == _MOST and len(free) > _MOST:
            message += f"; so do {len(free) - _MOST} more"
        case.warn(model.at, "MW409", message, "add it to `prices`", key=True)
