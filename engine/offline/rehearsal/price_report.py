"""The price of a rehearsed request at its first target, for the caller's team."""

from __future__ import annotations

from engine.config.default_prices import prices_of
from engine.offline.rehearsal.observation import Rehearsal
from engine.plan.route import Plan
from engine.values.price import Price
from engine.values.price_list import Prices
from engine.values.trees import Json

_ATTO_PER_MILLION = 10**12


def price_report(rehearsal: Rehearsal, plan: Plan) -> Json | None:
    """The `source` of the price, and the `input` and `output` of a million tokens; beside it, what
    the vendor charges if the team has another price. None without a price or a target."""
    exchange = rehearsal.exchange
    if exchange is None or not exchange.model.targets:
        return None
    target, name = exchange.model.targets[0], exchange.model.name
    names = target.exact_entry or name, target.upstream.name, target.model or name
    prices: Prices = prices_of(plan.config)
    team = "" if exchange.caller is None else exchange.caller.team
    vendors, price = prices.find(*names), prices.of(team).find(*names)
    if price is None:
        return None
    is_team_price = price is not vendors
    return {
        **_amounts(price),
        "currency": plan.config.currency,
        "team": team if is_team_price else "",
        "vendor": _amounts(vendors) if is_team_price and vendors is not None else None,
    }


def _amounts(price: Price) -> Json:
    return {
        "source": price.source,
        "input": price.input / _ATTO_PER_MILLION,
        "output": price.output / _ATTO_PER_MILLION,
    }
