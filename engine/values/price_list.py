"""The prices of all models: those of the vendors, and those of teams."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache

from msgspec import Struct, field

from engine.values.price import Price
from engine.values.wildcard import ByName

_MAX_MARKED_UP = 10_000
"""Marked-up prices that a team has in memory."""


class TeamPriceList(Struct, frozen=True):
    """What the requests of a team's members cost: the prices of `models`, by name as those of the
    config; those of the vendors plus `markup` percent for other models."""

    markup: Decimal = Decimal(0)
    models: Mapping[str, Price] = field(default_factory=dict)

    def __str__(self) -> str:
        """`+20%, own: gpt-4o`."""
        own = [f"own: {', '.join(self.models)}"] if self.models else []
        return ", ".join([*([percent_text(self.markup)] if self.markup or not own else []), *own])


def percent_text(percent: Decimal) -> str:
    """A signed percentage: `+20%`."""
    return f"{percent:+f}%"


class Prices:
    """The prices of models. The config has them by target (`upstream/model`), or by the name or a
    wildcard of the model; `defaults`, by upstream and its name for the model, apply after it.

    `by_team` has the prices of the teams with a list of `teams`, by team.
    """

    def __init__(
        self,
        config: Mapping[str, Price] | None = None,
        defaults: Mapping[str, Mapping[str, Price]] | None = None,
        teams: Mapping[str, TeamPriceList] | None = None,
    ) -> None:
        self._config = ByName(config or {})
        self._of_targets = {name: price for name, price in (config or {}).items() if "/" in name}
        self._defaults = defaults or {}
        self.by_team = {
            name: TeamPrices(team_lists, self) for name, team_lists in (teams or {}).items()
        }

    def of(self, team: str) -> Prices | TeamPrices:
        """The prices for the members of a team, "" for callers without one."""
        return self.by_team.get(team, self)

    def find(self, model: str, upstream: str = "", upstream_model: str = "") -> Price | None:
        """The price of a model that an upstream serves, None if it has none."""
        price = None
        if self._of_targets:
            price = self._of_targets.get(f"{upstream}/{upstream_model}")
        if price is None:
            price = self._config.find(model)
        if price is None and (models := self._defaults.get(upstream)) is not None:
            price = models.get(upstream_model)
        return price


class TeamPrices:
    """The prices of a team: those of its `own` list, then a markup on those of the `vendors`."""

    def __init__(self, own: TeamPriceList, vendors: Prices) -> None:
        self._own = Prices(own.models)
        self._vendors = vendors
        factor, text = 1 + own.markup / 100, percent_text(own.markup)

        @lru_cache(_MAX_MARKED_UP)
        def marked_up(price: Price, source: str) -> Price:
            return price.scaled(factor, f"{source} {text}")

        self._marked_up = marked_up if own.markup else None

    def find(self, model: str, upstream: str = "", upstream_model: str = "") -> Price | None:
        """The price of a model that an upstream serves, None if it has none."""
        price = self._own.find(model, upstream, upstream_model)
        if price is not None:
            return price
        price = self._vendors.find(model, upstream, upstream_model)
        if price is None or self._marked_up is None:
            return price
        return self._marked_up(price, price.source)
