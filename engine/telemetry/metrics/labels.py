"""The labels of requests, which the groups of metrics share.

Callers cannot add values of labels: `operation` is one of the config ("" for a request that matched
none), `model` a name or wildcard under `models` ("" for none), `upstream` a name under `upstreams`.
Names of OpenTelemetry's semantic conventions for GenAI are written in Prometheus's form:
`gen_ai.client.token.usage` is `gen_ai_client_token_usage`.
"""

from __future__ import annotations

from typing import NamedTuple

from engine.exchange.exchange import Exchange


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
