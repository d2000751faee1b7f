"""Metrics of usage: model tokens, money, and OpenTelemetry's metrics for GenAI clients, by version
1.41 of its conventions. `inference.py` has those with newer names."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from engine.exchange.outcome import Outcome
from engine.exchange.request_record import RequestRecord
from engine.telemetry.metrics.labels import SeriesLabels
from engine.telemetry.metrics.storage.tables import Histogram, Numbers
from engine.telemetry.metrics.storage.worker_numbers import WorkerNumbers
from engine.values.metric import counter, histogram

# Bucket bounds as the semantic conventions for GenAI recommend them.
GEN_AI_SECONDS = (
    *(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56),
    *(5.12, 10.24, 20.48, 40.96, 81.92),
)
GEN_AI_TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216)
GEN_AI_LABELS = "gen_ai_operation_name gen_ai_provider_name gen_ai_request_model"

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
    f"{GEN_AI_LABELS} error_type",
    "GenAI operation duration (gen_ai.client.operation.duration). error_type is the status, or "
    "the outcome of an answer that broke; empty without an error.",
    GEN_AI_SECONDS,
)
GEN_AI_USAGE = histogram(
    "gen_ai_client_token_usage",
    f"{GEN_AI_LABELS} gen_ai_token_type",
    "Tokens used by one operation (gen_ai.client.token.usage); the type is input or output.",
    GEN_AI_TOKENS,
)


_input = attrgetter("usage.input")
_output = attrgetter("usage.output")
_cached = attrgetter("usage.cached")
_cost = attrgetter("cost")


class UsageTables:
    """The metrics of the usage of a worker's requests."""

    __slots__ = ("cost", "duration", "tokens", "usage")

    def __init__(self, worker_numbers: WorkerNumbers) -> None:
        self.tokens = worker_numbers.numbers(TOKENS)
        self.cost = worker_numbers.numbers(COST)
        self.duration = worker_numbers.histogram(GEN_AI_DURATION)
        self.usage = worker_numbers.histogram(GEN_AI_USAGE)

    def series(self, labels: SeriesLabels) -> UsageSeries:
        """What records requests with these labels."""
        return UsageSeries(self, labels)


class UsageSeries:
    """The places and rows of requests with the same labels.

    Each is 0 until it has its first value, as refused requests and operations without a model have
    no usage."""

    __slots__ = (
        *("_cached", "_cost", "_duration", "_input", "_input_sizes"),
        *("_labels", "_output", "_output_sizes", "_tables"),
    )

    def __init__(self, tables: UsageTables, labels: SeriesLabels) -> None:
        self._tables = tables
        self._labels = labels
        self._input = self._input_sizes = self._output = self._output_sizes = 0
        self._cached = self._cost = self._duration = 0

    def record(self, records: Sequence[RequestRecord]) -> None:
        """Record the usage of finished requests that asked for a model and reached an upstream."""
        if not self._labels.model:
            return
        records = [record for record in records if record.reached_upstream]
        tables = self._tables
        if inputs := [*filter(None, map(_input, records))]:
            if not self._input_sizes:
                self._input, self._input_sizes = self._open("input")
            tables.tokens.add(self._input, sum(inputs))
            tables.usage.observe_all(self._input_sizes, inputs)
        if outputs := [*filter(None, map(_output, records))]:
            if not self._output_sizes:
                self._output, self._output_sizes = self._open("output")
            tables.tokens.add(self._output, sum(outputs))
            tables.usage.observe_all(self._output_sizes, outputs)
        if cached := sum(map(_cached, records)):
            self._cached = self._cached or self._place(tables.tokens, "cached")
            tables.tokens.add(self._cached, cached)
        if cost := sum(map(_cost, records)):
            self._cost = self._cost or self._place(tables.cost, self._labels.currency)
            tables.cost.add(self._cost, cost / 1e9)
        durations = [record.duration for record in records if record.outcome is Outcome.COMPLETE]
        if durations:
            self._duration = self._duration or self._row(tables.duration, "")
            tables.duration.observe_all(self._duration, durations)
        if len(durations) < len(records):
            for record in records:
                if record.outcome is not Outcome.COMPLETE:
                    row = self._row(tables.duration, error_type(record))
                    tables.duration.observe(row, record.duration)

    def _open(self, kind: str) -> tuple[int, int]:
        """The place of the sum of tokens of a kind, and the row of their numbers."""
        return self._place(self._tables.tokens, kind), self._row(self._tables.usage, kind)

    def _place(self, numbers: Numbers, kind: str) -> int:
        return numbers.place((self._labels.served_model, self._labels.upstream, kind))

    def _row(self, histogram: Histogram, kind: str) -> int:
        return histogram.row((*self._labels.gen_ai, kind))


def error_type(record: RequestRecord) -> str:
    """`error.type` of a request that is not complete."""
    return str(record.status) if record.status >= 400 else record.outcome
