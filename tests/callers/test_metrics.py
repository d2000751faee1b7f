"""Token lookups are collected."""

from __future__ import annotations

from types import SimpleNamespace

from engine.callers import metrics


def test_lookups_are_collected_by_result():
    cache = SimpleNamespace(lookups=5, failed=1, stale=2, unknown=3, away=True)
    samples = {
        (metric, *labels): value for metric, labels, value in metrics.lookup_collector(cache)()
    }
    assert samples == {
        (metrics.LOOKUPS, "asked"): 5,
        (metrics.LOOKUPS, "failed"): 1,
        (metrics.LOOKUPS, "unknown"): 3,
        (metrics.LOOKUPS, "stale"): 2,
        (metrics.RECORDS_AWAY,): 1.0,
    }
