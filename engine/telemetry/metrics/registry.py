"""All metrics: what `/metrics` can show, and what the documentation and dashboards are tested
against.

Labels have few values, whatever callers send: `operation` is one of the config's ("" for a request
that matched none), `model` a name or wildcard under `models` ("" for none), `upstream` one under
`upstreams`. Durations are in seconds. Names of OpenTelemetry's semantic conventions for GenAI are
written in Prometheus's form: `gen_ai.client.token.usage` is `gen_ai_client_token_usage`.
"""

from __future__ import annotations

from engine.telemetry.metrics import process, requests, stores, streams, upstreams, usage
from engine.values.metric import Metric

GROUPS = (requests, streams, usage, upstreams, stores, process)

METRICS: tuple[Metric, ...] = tuple(
    value for group in GROUPS for value in vars(group).values() if isinstance(value, Metric)
)
