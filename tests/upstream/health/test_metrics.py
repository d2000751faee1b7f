"""The states of targets and their ejections as metrics."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from engine.telemetry.metrics.worker_metrics import WorkerMetrics
from engine.upstream.health import metrics as health
from tests.support.recording_metrics import values


def test_states_and_ejections_are_collected_by_target() -> None:
    ejected = {"errors": 2, "latency": 0, "silence": 1}
    targets = [
        SimpleNamespace(upstream="one", name="m", ejections=ejected, level=lambda now: 4),
        SimpleNamespace(upstream="two", name="", ejections={}, level=lambda now: int(now)),
    ]
    collect = health.health_collector(lambda: targets, lambda: 1.0)
    assert {(metric, *labels): value for metric, labels, value in collect()} == {
        (health.HEALTH, "one", "m"): 4,
        (health.EJECTIONS, "one", "m", "errors"): 2,
        (health.EJECTIONS, "one", "m", "silence"): 1,
        (health.HEALTH, "two", ""): 1,
    }


def test_ejections_of_targets_with_equal_labels_are_added_once(tmp_path: Path) -> None:
    """Those of the entry `a/b` without a model, and of the model `b` of the entry `a`."""
    first, second = {"errors": 5}, {"errors": 3}
    targets = [
        SimpleNamespace(upstream="up", name="a/b", ejections=each, level=lambda now: 0)
        for each in (first, second)
    ]
    collector = health.health_collector(lambda: targets, lambda: 1.0)
    recorder = WorkerMetrics(tmp_path, collectors=[collector])
    for total in (8.0, 8.0, 9.0):
        second["errors"] += total == 9.0
        recorder.collect()
        counts = values(recorder, "modelway_target_ejections_total")
        assert counts == {("errors", "a/b", "up"): total}
    recorder.close()
