"""The state of a target is the worst of its health and its limits, and has a reason."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from engine.upstream.health.target_limits import ENOUGH, NEARLY, USED_UP
from engine.upstream.health.watched_target import STATES, WatchedTarget

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
