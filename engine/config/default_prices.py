"""The prices of models without a price in the config, from the providers of its upstreams."""

from __future__ import annotations

from collections.abc import Mapping

from engine.config.config import Config
from engine.config.providers import Provider
from engine.config.team_prices import effective_lists
from engine.values.price import Price
from engine.values.price_list import Prices


def prices_of(config: Config) -> Prices:
    """The prices of all models, and those of teams."""
    return Prices(
        config.prices, default_prices(config), effective_lists(config.team_prices, config.teams)
    )


def default_prices(config: Config) -> dict[str, Mapping[str, Price]]:
    """The prices of each upstream's models, by upstream and the provider's name for the model."""
    upstreams = config.upstreams.values()
    used = {u.name: priced_provider(u.provider, config) for u in upstreams}
    return {name: config.catalog.prices(p.name) for name, p in used.items() if p is not None}


def priced_provider(name: str, config: Config) -> Provider | None:
    """The provider of that name if its prices apply. None for "", for prices in another currency,
    and if operators name the models themselves."""
    provider = config.catalog.read(name) if name else None
    if provider is None or provider.own_names or provider.currency != config.currency:
        return None
    return provider
