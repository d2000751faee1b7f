"""Metrics of teams: their requests, tokens and money."""

from __future__ import annotations

from collections.abc import Sequence

from engine.exchange.exchange import Exchange
from engine.telemetry.metrics.labels import OTHER, NameRoom
from engine.telemetry.metrics.storage.cells import Cells
from engine.values.metric import Metric, counter

TEAM_REQUESTS = counter(
    "modelway_team_requests_total",
    "team outcome",
    "Requests that ended, by the team of their caller. Callers without a team are in no series.",
)
TEAM_TOKENS = counter(
    "modelway_team_tokens_total",
    "team type",
    "Tokens used by a team. type is input (with cached) or output.",
)
TEAM_COST = counter(
    "modelway_team_cost_total",
    "team currency",
    "Cost of a team's requests at the prices of the team, in units of currency.",
)
TEAM_VENDOR_COST = counter(
    "modelway_team_vendor_cost_total",
    "team currency",
    "What vendors charge for a team's requests, in units of currency. It is the cost, for a team "
    "without prices of its own.",
)


class TeamRecorder:
    """Records the requests of teams. Names of teams come from tokens, so at most `max_teams` have
    series of their own; further ones share that of `other`."""

    def __init__(self, cells: Cells, currency: str, max_teams: int) -> None:
        self._cells = cells
        self._currency = currency
        self._room = NameRoom(max_teams, (team for team, _ in cells.label_values(TEAM_REQUESTS)))

    def record(self, exchanges: Sequence[Exchange]) -> None:
        """Record finished exchanges."""
        for exchange in exchanges:
            caller = exchange.caller
            if caller is not None and caller.team:
                team = caller.team if self._room.takes(caller.team) else OTHER
                self._record(team, exchange)

    def _record(self, team: str, exchange: Exchange) -> None:
        record = exchange.record
        self._cells.add(TEAM_REQUESTS, (team, record.outcome), 1.0)
        self._add(TEAM_TOKENS, team, "input", record.usage.input)
        self._add(TEAM_TOKENS, team, "output", record.usage.output)
        self._add(TEAM_COST, team, self._currency, record.cost / 1e9)
        self._add(TEAM_VENDOR_COST, team, self._currency, (record.cost - record.margin) / 1e9)

    def _add(self, metric: Metric, team: str, kind: str, amount: float) -> None:
        if amount:
            self._cells.add(metric, (team, kind), amount)
