"""Every metric is listed, described and named as Prometheus wants."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from engine.telemetry import metrics
from engine.telemetry.metrics import registry
from engine.values.metric import Metric


def test_every_metric_of_a_module_is_listed():
    modules = [
        import_module(m.name)
        for m in pkgutil.iter_modules(metrics.__path__, f"{metrics.__name__}.")
    ]
    defined = {v for m in modules for v in vars(m).values() if isinstance(v, Metric)}
    assert set(registry.METRICS) == defined


def test_names_are_unique():
    assert len({metric.name for metric in registry.METRICS}) == len(registry.METRICS)


def test_every_metric_is_described_and_well_named():
    for metric in registry.METRICS:
        assert metric.help
        assert metric.name.startswith(("modelway_", "gen_ai_"))
        assert metric.name.endswith("_total") == (metric.kind == "counter")
        assert bool(metric.buckets) == (metric.kind == "histogram")
        assert metric.mode in ("", "livesum", "livemax", "livemin")
