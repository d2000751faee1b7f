"""Prices of models: of teams (`teams.*.prices` of gateway.yaml), and, without a price in the
config, those of the providers of a model's upstreams."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from engine.config.config import Config
from engine.config.providers import Provider
from engine.config.teams import Teams
from engine.source.problem import Findings, Source
from engine.values.price import Price, price_of
from engine.values.price_list import Prices, TeamPriceList
from engine.values.trees import Json, Section

_MIN_MARKUP = Decimal(-100)


def read_team_prices(teams: Json, source: Source, findings: Findings) -> dict[str, TeamPriceList]:
    """The lists of the teams that have one, by team."""
    return {
        name: _price_list(name, entry["prices"], source, findings)
        for name, entry in teams.items()
        if "prices" in entry
    }


def _price_list(name: str, entry: Section, source: Source, findings: Findings) -> TeamPriceList:
    markup = Decimal(entry.get("markup", "0%").removesuffix("%"))
    if markup < _MIN_MARKUP:
        message = f"{markup}% of a price leaves less than nothing"
        hint = "-100% makes requests free, -10% takes a tenth off"
        findings.error(source, ("teams", name, "prices", "markup"), "MW560", message, hint)
        markup = _MIN_MARKUP
    models = {n: price_of(v, f"team {name}") for n, v in entry.get("models", {}).items()}
    return TeamPriceList(markup, models)


def effective_lists(lists: Mapping[str, TeamPriceList], teams: Teams) -> dict[str, TeamPriceList]:
    """The list of each team that has one of its own or that of a team above it, the lowest of
    these."""
    effective = {}
    for name in teams.by_name:
        price_list = next(
            (lists[team.name] for team in teams.line(name) if team.name in lists), None
        )
        if price_list is not None:
            effective[name] = price_list
    return effective


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
