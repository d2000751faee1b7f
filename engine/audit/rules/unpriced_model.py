"""Money that is limited, and models that cost nothing because no price is known."""

from __future__ import annotations

from engine.audit.case import Case
from engine.wildcard import ByName


def check(case: Case) -> None:
    prices = ByName(case.config.prices)
    by_token = any(
        limit.kind == "spend" for caller in case.config.tokens.values() for limit in caller.limits
    )
    for model in case.config.models.values():
        limited = any(by_token or "spend" in asked.kinds for asked in case.asked(model))
        # A wildcard is priced by a wildcard that takes in all of its names.
        if limited and prices.find(model.name.replace("*", "\0")) is None:
            message = f"spending is limited, but '{model.name}' has no price: it counts as free"
            case.warn(model.at, "MW409", message, "add it to `prices`", key=True)
