"""Metrics of usage: model tokens, money, and OpenTelemetry's metrics for GenAI clients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.exchange.exchange import Exchange
from engine.exchange.record import Outcome, RequestRecord
from engine.telemetry.metrics.cells import Cells
from engine.telemetry.metrics.series import SeriesLabels, Write, increase, observe
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


def writes(cells: Cells, labels: SeriesLabels, exchanges: Sequence[Exchange]) -> Iterator[Write]:
    """The usage of those requests that asked for a model and reached an upstream."""
    records = [exchange.record for exchange in exchanges]
    records = [each for each in records if each.requested_entry and each.reached_upstream]
    target = (labels.served_model, labels.upstream)
    usages = [record.usage for record in records]
    for kind, numbers in (
        ("input", [usage.input for usage in usages if usage.input]),
        ("output", [usage.output for usage in usages if usage.output]),
    ):
        if numbers:
            yield increase(cells, TOKENS, (*target, kind), sum(numbers))
            yield observe(cells, GEN_AI_USAGE, (*labels.gen_ai, kind), numbers)
    if cached := sum([usage.cached for usage in usages]):
        yield increase(cells, TOKENS, (*target, "cached"), cached)
    if cost := sum([record.cost for record in records]):
        yield increase(cells, COST, (*target, labels.currency), cost / 1e9)
    durations: dict[str, list[float]] = {}
    for record in records:
        durations.setdefault(_error_type(record), []).append(record.duration)
    for error, seconds in durations.items():
        yield observe(cells, GEN_AI_DURATION, (*labels.gen_ai, error), seconds)


def _error_type(record: RequestRecord) -> str:
    if record.outcome is Outcome.COMPLETE:
        return ""
    return str(record.status) if record.status >= 400 else record.outcome
