"""The state of a target is the worst of its health and its limits, and has a reason."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from engine.telemetry.metrics.worker_metrics import WorkerMetrics
from engine.upstream.health import watched_target as health
from engine.upstream.health.target_limits import ENOUGH, NEARLY, USED_UP
from engine.upstream.health.watched_target import STATES, WatchedTarget
from tests.support.recording_metrics import values

SUPPLY = {"enough": ENOUGH, "nearly": NEARLY, "used up": USED_UP}


def watched(*facts: str, supply: str = "enough", reason: str = "", key: Any = ("m",)) -> Any:
    """A target of whose health only these facts hold."""
    health = SimpleNamespace(
        is_failing=lambda now: "failing" in facts,
        is_ejected=lambda now: "ejected" in facts,
        is_returning=lambda now: "returning" in facts,
        reason=reason,
        server=SimpleNamespace(reason="status 503"),
        settings=SimpleNamespace(upstream="one"),
        key=key,
        ejections={"errors": 2},
    )
    limits = SimpleNamespace(best_level=lambda now: SUPPLY[supply])
    return WatchedTarget(health, limits)  # type: ignore[arg-type]


def test_the_worst_state_counts() -> None:
    targets = [
        watched(),
        watched("returning"),
        watched("returning", supply="nearly"),
        watched("returning", supply="used up"),
        watched("ejected", "returning", supply="used up"),
        watched("failing", "ejected", supply="used up"),
    ]
    assert [target.level(0.0) for target in targets] == [*range(len(STATES))]


def test_a_report_has_the_reason_of_its_state() -> None:
    reports = [
        watched("failing", reason="errors").report(0.0),
        watched("ejected", reason="errors").report(0.0),
        watched(supply="used up", reason="errors", key=("m", "x")).report(0.0),
    ]
    assert reports == [
        {"upstream": "one", "target": "m", "state": "failing", "reason": "status 503"},
        {"upstream": "one", "target": "m", "state": "ejected", "reason": "errors"},
        {"upstream": "one", "target": "m/x", "state": "limited"},
    ]


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
