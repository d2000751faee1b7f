"""The states of targets and their ejections as metrics."""

from __future__ import annotations

from types import SimpleNamespace

from engine.telemetry.metrics import health


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
