"""Metrics of teams, and of the tags that the config names: requests, tokens and money of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from engine.exchange.exchange import Exchange
from engine.telemetry.metrics.labels import OTHER, NameRoom
from engine.telemetry.metrics.storage.worker_numbers import WorkerNumbers
from engine.values.metric import Metric, counter
from engine.values.quota_sharers import OTHERS

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
TAG_REQUESTS = counter(
    "modelway_tag_requests_total",
    "tag value outcome",
    "Requests that ended, by the tags under telemetry.tags and their values. Requests without a "
    "tag are in no series of it.",
)
TAG_TOKENS = counter(
    "modelway_tag_tokens_total",
    "tag value type",
    "Tokens used by requests with this value of a tag. type is input (with cached) or output.",
)
TAG_COST = counter(
    "modelway_tag_cost_total",
    "tag value currency",
    "Cost of requests with this value of a tag, in units of currency.",
)
ReadTags = Callable[[Exchange], Mapping[str, str]]
"""The values of a request's tags, by their names."""


class TeamRecorder:
    """Records the requests of teams. Names of teams come from tokens, so at most `max_teams` have
    series of their own; further ones share that of `other`."""

    def __init__(self, worker_numbers: WorkerNumbers, currency: str, max_teams: int) -> None:
        self._worker_numbers = worker_numbers
        self._currency = currency
        self._room = NameRoom(
            max_teams, (team for team, _ in worker_numbers.label_values(TEAM_REQUESTS))
        )

    def record(self, exchanges: Sequence[Exchange]) -> None:
        """Record finished exchanges."""
        for exchange in exchanges:
            caller = exchange.caller
            if caller is not None and caller.team:
                team = caller.team if self._room.takes(caller.team) else OTHER
                self._record(team, exchange)

    def _record(self, team: str, exchange: Exchange) -> None:
        record = exchange.record
        self._worker_numbers.add(TEAM_REQUESTS, (team, record.outcome), 1.0)
        _add(self._worker_numbers, TEAM_TOKENS, (team, "input"), record.usage.input)
        _add(self._worker_numbers, TEAM_TOKENS, (team, "output"), record.usage.output)
        _add(self._worker_numbers, TEAM_COST, (team, self._currency), record.cost / 1e9)
        _add(
            self._worker_numbers,
            TEAM_VENDOR_COST,
            (team, self._currency),
            (record.cost - record.margin) / 1e9,
        )


class TagRecorder:
    """Records the requests of each value of a tag. Callers choose values, so at most `max_values`
    of all tags have series of their own; further ones of a tag share that of `other`."""

    def __init__(
        self, worker_numbers: WorkerNumbers, currency: str, read: ReadTags, max_values: int
    ) -> None:
        self._worker_numbers = worker_numbers
        self._currency = currency
        self._read = read
        self._room = NameRoom(
            max_values, (row[:2] for row in worker_numbers.label_values(TAG_REQUESTS))
        )

    def record(self, exchanges: Sequence[Exchange]) -> None:
        """Record finished exchanges."""
        for exchange in exchanges:
            for name, value in self._read(exchange).items():
                has_room = value != OTHERS and self._room.takes((name, value))
                self._record((name, value if has_room else OTHER), exchange)

    def _record(self, tag: tuple[str, str], exchange: Exchange) -> None:
        record = exchange.record
        self._worker_numbers.add(TAG_REQUESTS, (*tag, record.outcome), 1.0)
        _add(self._worker_numbers, TAG_TOKENS, (*tag, "input"), record.usage.input)
        _add(self._worker_numbers, TAG_TOKENS, (*tag, "output"), record.usage.output)
        _add(self._worker_numbers, TAG_COST, (*tag, self._currency), record.cost / 1e9)


def _add(
    worker_numbers: WorkerNumbers, metric: Metric, labels: tuple[str, ...], amount: float
) -> None:
    if amount:
        worker_numbers.add(metric, labels, amount)
