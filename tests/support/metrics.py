"""A page of the gateway's metrics, made by prometheus_client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from engine.console.activity.figures import Figures, figures_of
from engine.console.activity.metrics_change import MetricsChange, Snapshot, parse_samples
from engine.telemetry.metrics import process, requests, usage
from engine.telemetry.metrics.requests import ATTEMPTS
from engine.values.metric import Metric
from tools.reference import metrics_by_subject

METRICS = tuple(metric for metrics in metrics_by_subject().values() for metric in metrics)
"""Every metric that a module of the engine defines."""


class MetricsPage:
    """A gateway's metrics: `page[requests.REQUESTS].labels(...)` is one of them, `text()` all."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._metrics = {metric.name: self._new(metric) for metric in METRICS}

    def __getitem__(self, metric: Metric) -> Any:
        return self._metrics[metric.name]

    def text(self) -> str:
        """The text of `/metrics`."""
        return generate_latest(self._registry).decode()

    def _new(self, metric: Metric) -> Any:
        arguments = (metric.name, metric.help, metric.labels)
        if metric.kind == "histogram":
            return Histogram(*arguments, registry=self._registry, buckets=metric.buckets)
        return {"counter": Counter, "gauge": Gauge}[metric.kind](
            *arguments, registry=self._registry
        )

    def request(
        self,
        model: str = "gpt-4o",
        upstream: str = "openai",
        operation: str = "openai.createChatCompletion",
        *,
        outcome: str = "complete",
        seconds: float = 0.2,
    ) -> None:
        """Count a request, with 100 tokens in, 50 out and a price of 0.01 USD."""
        status = {"complete": "2xx", "refused": "4xx"}.get(outcome, "5xx")
        self[requests.REQUESTS].labels(operation, model, upstream, status, outcome).inc()
        self[requests.DURATION].labels(operation, model).observe(seconds)
        self[requests.FIRST_BYTE].labels(operation, model, upstream).observe(seconds)
        self[requests.OVERHEAD].labels(operation).observe(0.0004)
        self[ATTEMPTS].labels(upstream, "ok" if outcome == "complete" else "5xx").inc()
        for kind, count in (("input", 100), ("output", 50), ("cached", 10)):
            self[usage.TOKENS].labels(model, upstream, kind).inc(count)
        self[usage.COST].labels(model, upstream, "USD").inc(0.01)


def figures_after(fill: Callable[[MetricsPage], object], seconds: float = 2.0) -> Figures:
    """The figures of `modelway top` for the change that `fill` makes within some seconds."""
    metrics = MetricsPage()
    metrics[process.RELOAD_OK].set(1)
    before = Snapshot(0.0, parse_samples(metrics.text()))
    fill(metrics)
    return figures_of(MetricsChange(before, Snapshot(seconds, parse_samples(metrics.text()))))
