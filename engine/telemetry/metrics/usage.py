"""Metrics of usage: model tokens, money, and OpenTelemetry's metrics for GenAI clients."""

from __future__ import annotations

from functools import cached_property

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


class UsageSeries:
    """The cells of requests with the same labels, and the values of a batch of them.

    A cell is created with its first value: most requests that are refused, and operations without
    a model, have none."""

    def __init__(self, cells: Cells, labels: SeriesLabels) -> None:
        self._cells = cells
        self._target = (labels.served_model, labels.upstream)
        self._gen_ai = labels.gen_ai
        self._currency = labels.currency
        self._inputs: list[int] = []
        self._outputs: list[int] = []
        self._costs: list[int] = []
        self._durations: list[float] = []  # of requests without an error

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

    def gather(self, record: RequestRecord) -> None:
        """Take the usage of a request that asked for a model and reached an upstream, until
        `record`."""
        if not (record.requested_entry and record.reached_upstream):
            return
        usage = record.usage
        if usage.input:
            self._inputs.append(usage.input)
        if usage.output:
            self._outputs.append(usage.output)
        if usage.cached:
            self._cached.add(usage.cached)
        if record.cost:
            self._costs.append(record.cost)
        if record.outcome is Outcome.COMPLETE:
            self._durations.append(record.duration)
        else:
            self._duration_of(_error_type(record)).observe(record.duration)

    def record(self) -> None:
        """Record what was gathered."""
        inputs, self._inputs = self._inputs, []
        outputs, self._outputs = self._outputs, []
        costs, self._costs = self._costs, []
        durations, self._durations = self._durations, []
        if inputs:
            total, distribution = self._input
            total.add(sum(inputs))
            distribution.observe(*inputs)
        if outputs:
            total, distribution = self._output
            total.add(sum(outputs))
            distribution.observe(*outputs)
        if costs:
            self._cost.add(sum(costs) / 1e9)
        if durations:
            self._duration.observe(*durations)


def _error_type(record: RequestRecord) -> str:
    return str(record.status) if record.status >= 400 else record.outcome
