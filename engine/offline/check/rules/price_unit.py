"""A price of tokens that is not per million: per 1,000 tokens, or per token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.config.providers import provider_of
from engine.offline.check.audit import AuditCase
from engine.source.problem import Path
from engine.values.price import TOKENS, Price
from engine.values.wildcard import matches

_FACTORS = {1_000: "for 1,000 tokens", 1_000_000: "for one token"}
_TOLERANCE = 4
"""How many times a price may differ from the provider's and still be the same in another unit."""
_CHEAPEST = 0.001
"""No model costs less for a million tokens; the cheapest embeddings cost ten times as much."""
_OF_A_TOKEN = 0.00005


def check(case: AuditCase) -> None:
    value = case.config.source.value
    _check_list(case, ("prices",), value.get("prices") or {}, case.config.prices)
    for team, price_list in case.config.team_prices.items():
        prices = value["teams"][team]["prices"].get("models") or {}
        _check_list(case, ("teams", team, "prices", "models"), prices, price_list.models)


def _check_list(
    case: AuditCase, at: Path, listed: Mapping[str, object], valid: Mapping[str, Price]
) -> None:
    for name in valid:
        prices = listed.get(name)
        if isinstance(prices, dict):
            _check(case, (*at, name), name, prices)


def _check(case: AuditCase, at: Path, name: str, prices: Mapping[str, object]) -> None:
    for key in TOKENS:
        price = prices.get(key)
        if not isinstance(price, int | float) or price <= 0:
            continue
        factor, listed_price = _factor(case, name, key, price)
        if factor:
            message = f"{price:g} is the price of a million tokens, but looks like that "
            message += _FACTORS[factor]
            if listed_price:
                message += f": '{listed_price}' costs {price * factor:g} or so"
            hint = f"prices are per million tokens: write {key}: {_exact(price, factor)}"
            case.warn((*at, key), "MW470", message, hint)
            return


def _factor(case: AuditCase, name: str, key: str, price: float) -> tuple[int, str]:
    """By how much a price is too low, 0 if it is not, and the model whose provider says so."""
    for model, listed_price in _known(case, name, key):
        for factor in _FACTORS:
            if listed_price / _TOLERANCE <= price * factor <= listed_price * _TOLERANCE:
                return factor, model
        return 0, ""
    if price >= _CHEAPEST:
        return 0, ""
    return (1_000_000 if price < _OF_A_TOKEN else 1_000), ""


def _known(case: AuditCase, name: str, key: str) -> Iterator[tuple[str, float]]:
    """The prices of the models that an entry of `prices` is for, by their providers."""
    for model in case.config.models.values():
        for target in model.targets:
            upstream = case.config.upstreams[target.upstream]
            own_name = target.model or model.name
            if name != f"{target.upstream}/{own_name}" and not matches(model.name, name):
                continue
            provider = provider_of(upstream.provider, upstream.url)
            facts = case.config.catalog.read(provider).models.get(own_name) if provider else None
            if facts is None or facts.price is None or key not in facts.price:
                continue
            if case.config.catalog.read(provider).currency == case.config.currency:
                yield own_name, float(facts.price[key])


def _exact(price: float, factor: int) -> str:
    """A price times a factor, without the errors of binary fractions."""
    return f"{round(price * factor, 9):g}"
