"""`teams.*.prices` of gateway.yaml: what the requests of a team's members cost."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from engine.source.problem import Findings, Source
from engine.values.price import price_of
from engine.values.price_list import TeamPriceList
from engine.values.teams import Teams
from engine.values.trees import Json, Section

_LOWEST = Decimal(-100)


def read_team_prices(teams: Json, source: Source, findings: Findings) -> dict[str, TeamPriceList]:
    """The lists of the teams that have one, by team."""
    return {
        name: _price_list(name, entry["prices"], source, findings)
        for name, entry in teams.items()
        if "prices" in entry
    }


def _price_list(name: str, entry: Section, source: Source, findings: Findings) -> TeamPriceList:
    markup = Decimal(entry.get("markup", "0%").removesuffix("%"))
    if markup < _LOWEST:
        message = f"{markup}% of a price leaves less than nothing"
        hint = "-100% makes requests free, -10% takes a tenth off"
        findings.error(source, ("teams", name, "prices", "markup"), "MW560", message, hint)
        markup = _LOWEST
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
