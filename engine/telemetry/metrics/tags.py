"""Metrics of the tags that the config names: requests, tokens and money of each value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from engine.exchange.exchange import Exchange
from engine.telemetry.metrics.labels import OTHER, NameRoom
from engine.telemetry.metrics.storage.cells import Cells
from engine.values.metric import Metric, counter
from engine.values.quota_sharers import OTHERS

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


class TagRecorder:
    """Records the requests of each value of a tag. Callers choose values, so at most `max_values`
    of all tags have series of their own; further ones of a tag share that of `other`."""

    def __init__(self, cells: Cells, currency: str, read: ReadTags, max_values: int) -> None:
        self._cells = cells
        self._currency = currency
        self._read = read
        self._room = NameRoom(max_values, (row[:2] for row in cells.label_values(TAG_REQUESTS)))

    def record(self, exchanges: Sequence[Exchange]) -> None:
        """Record finished exchanges."""
        for exchange in exchanges:
            for name, value in self._read(exchange).items():
                has_room = value != OTHERS and self._room.takes((name, value))
                self._record((name, value if has_room else OTHER), exchange)

    def _record(self, tag: tuple[str, str], exchange: Exchange) -> None:
        record = exchange.record
        self._cells.add(TAG_REQUESTS, (*tag, record.outcome), 1.0)
        self._add(TAG_TOKENS, tag, "input", record.usage.input)
        self._add(TAG_TOKENS, tag, "output", record.usage.output)
        self._add(TAG_COST, tag, self._currency, record.cost / 1e9)

    def _add(self, metric: Metric, tag: tuple[str, str], kind: str, amount: float) -> None:
        if amount:
            self._cells.add(metric, (*tag, kind), amount)
