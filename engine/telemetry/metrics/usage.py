"""Metrics of usage: model tokens, money, and OpenTelemetry's metrics for GenAI clients."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from operator import attrgetter

from engine.exchange.record import Outcome, RequestRecord
from engine.telemetry.metrics.labels import SeriesLabels
from engine.telemetry.metrics.storage.cells import Cell, Cells, Distribution
from engine.values.metric import counter, histogram

# Bucket bounds as the semantic conventions for GenAI recommend them.
_GEN_AI_SECONDS = (
    *(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56),
    *(5.12, 10.24, 20.48, 40.96, 81.92),
)
_GEN_AI_TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216)
_GEN_AI = "gen_ai_operation_name gen_ai_provider_name gen_ai_request_model"

TOKENS = counter(
    "modelway_tokens_total",
    "model upstream type",
    "Tokens used, by the model that served. type is input (with cached), output or cached.",
)
COST = counter(
    "modelway_cost_total", "model upstream currency", "Cost of requests, in units of currency."
)
GEN_AI_DURATION = histogram(
    "gen_ai_client_operation_duration_seconds",
    f"{_GEN_AI} error_type",
    "GenAI operation duration (gen_ai.client.operation.duration). error_type is the status, or "
    "the outcome of an answer that broke; empty without an error.",
    _GEN_AI_SECONDS,
)
GEN_AI_USAGE = histogram(
    "gen_ai_client_token_usage",
    f"{_GEN_AI} gen_ai_token_type",
    "Tokens used by one operation (gen_ai.client.token.usage); the type is input or output.",
    _GEN_AI_TOKENS,
)


_input = attrgetter("usage.input")
_output = attrgetter("usage.output")
_cached = attrgetter("usage.cached")
_cost = attrgetter("cost")


class UsageSeries:
    """The cells of requests with the same labels.

    A cell is created with its first value, as refused requests and operations without a model have
    no usage."""

    def __init__(self, cells: Cells, labels: SeriesLabels) -> None:
        self._cells = cells
        self._target = (labels.served_model, labels.upstream)
        self._gen_ai = labels.gen_ai
        self._currency = labels.currency

    @cached_property
    def _input(self) -> tuple[Cell, Distribution]:
        return self._tokens("input")

    @cached_property
    def _output(self) -> tuple[Cell, Distribution]:
        return self._tokens("output")

    @cached_property
    def _cached(self) -> Cell:
        return self._cells.cell(TOKENS, *self._target, "cached")

    @cached_property
    def _cost(self) -> Cell:
        return self._cells.cell(COST, *self._target, self._currency)

    def _tokens(self, kind: str) -> tuple[Cell, Distribution]:
        total = self._cells.cell(TOKENS, *self._target, kind)
        return total, self._cells.distribution(GEN_AI_USAGE, *self._gen_ai, kind)

    @cached_property
    def _duration(self) -> Distribution:
        return self._duration_of("")

    def _duration_of(self, error: str) -> Distribution:
        return self._cells.distribution(GEN_AI_DURATION, *self._gen_ai, error)

    def record(self, records: Sequence[RequestRecord]) -> None:
        """Record the usage of finished requests that asked for a model and reached an upstream."""
        records = [record for record in records if _has_usage(record)]
        if inputs := [*filter(None, map(_input, records))]:
            total, distribution = self._input
            total.add(sum(inputs))
            distribution.observe(*inputs)
        if outputs := [*filter(None, map(_output, records))]:
            total, distribution = self._output
            total.add(sum(outputs))
            distribution.observe(*outputs)
        if cached := sum(map(_cached, records)):
            self._cached.add(cached)
        if cost := sum(map(_cost, records)):
            self._cost.add(cost / 1e9)
        durations = [record.duration for record in records if record.outcome is Outcome.COMPLETE]
        if durations:
            self._duration.observe(*durations)
        if len(durations) < len(records):
            for record in records:
                if record.outcome is not Outcome.COMPLETE:
                    self._duration_of(_error_type(record)).observe(record.duration)


def _has_usage(record: RequestRecord) -> bool:
    return bool(record.requested_entry) and record.reached_upstream


def _error_type(record: RequestRecord) -> str:
    return str(record.status) if record.status >= 400 else record.outcome
