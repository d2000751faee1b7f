"""The label values that requests share, and the writes that record them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from engine.exchange.exchange import Exchange
from engine.telemetry.metrics.cells import Cells
from engine.values.metric import Metric

Write = Callable[[], None]
"""Adds to a metric. A batch of requests is read first and written after that, so that a request
that cannot be read leaves no metric half recorded."""


class SeriesLabels(NamedTuple):
    """Label values of requests with the same operation, models and upstream. `model` is the
    requested one; `gen_ai` are operation, provider and model of OpenTelemetry's conventions."""

    operation: str
    model: str
    served_model: str
    upstream: str
    currency: str
    gen_ai: tuple[str, str, str]


def labels_of(exchange: Exchange, currency: str) -> SeriesLabels:
    """The labels of the series that an exchange belongs to."""
    record = exchange.record
    model, upstream = record.requested_entry, record.upstream
    provider = exchange.dialect.gen_ai_provider(upstream) if model else ""
    return SeriesLabels(
        operation=exchange.operation,
        model=model,
        served_model=record.served_entry or model,
        upstream=upstream,
        currency=currency,
        gen_ai=(exchange.dialect.gen_ai_operation(exchange.operation), provider, model),
    )


def observe(cells: Cells, metric: Metric, labels: Sequence[str], values: Sequence[float]) -> Write:
    """The write that adds values to a histogram."""
    return partial(cells.distribution(metric, *labels).observe, values)


def increase(cells: Cells, metric: Metric, labels: Sequence[str], amount: float) -> Write:
    """The write that adds an amount to a counter."""
    return partial(cells.cell(metric, *labels).add, amount)
