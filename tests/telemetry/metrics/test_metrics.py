"""Every metric is described and named as Prometheus wants."""

from __future__ import annotations

from tests.support.metrics import METRICS


def test_names_are_unique():
    assert len(METRICS) > 30
    assert len({metric.name for metric in METRICS}) == len(METRICS)


def test_every_metric_is_described_and_well_named():
    for metric in METRICS:
        assert metric.help
        assert metric.name.startswith(("modelway_", "gen_ai_"))
        assert metric.name.endswith("_total") == (metric.kind == "counter")
        assert bool(metric.buckets) == (metric.kind == "histogram")
        assert metric.mode in ("", "livesum", "livemax", "livemin")
