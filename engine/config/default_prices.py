"""The prices of models without a price in the config, from the providers of its upstreams."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from engine.config import providers
from engine.config.config import Config
from engine.config.providers import Provider
from engine.config.team_prices import effective_lists
from engine.values.price import Price, price_of
from engine.values.prices import Prices


def prices_of(config: Config) -> Prices:
    """The prices of all models, and those of teams."""
    return Prices(
        config.prices, default_prices(config), effective_lists(config.team_prices, config.teams)
    )


def default_prices(config: Config) -> dict[str, Mapping[str, Price]]:
    """The prices of each upstream's models, by upstream and the provider's name for the model."""
    upstreams = config.upstreams.values()
    providers = {u.name: priced_provider(u.provider, config.currency) for u in upstreams}
    return {name: _prices(provider.name) for name, provider in providers.items() if provider}


def priced_provider(name: str, currency: str) -> Provider | None:
    """The provider of that name if its prices apply. None for "", for prices in another currency,
    and if operators name the models themselves."""
    provider = providers.read(name) if name else None
    if provider is None or provider.own_names or provider.currency != currency:
        return None
    return provider


@cache
def _prices(name: str) -> Mapping[str, Price]:
    provider = providers.read(name)
    source = f"{name} {provider.date}"
    prices = {n: model.price for n, model in provider.models.items() if model.price is not None}
    return {name: price_of(price, source, provider.batch) for name, price in prices.items()}
