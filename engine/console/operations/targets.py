"""The health of targets, their circuit breakers, and the queues before them, from the metrics."""

from __future__ import annotations

from typing import Any

from engine.console.activity.figures import BREAKER_STATES
from engine.console.activity.metrics_change import MetricsChange
from engine.upstream import metrics as upstreams
from engine.upstream.admission import metrics as admission
from engine.upstream.health import metrics as health
from engine.upstream.health.watched_target import STATES

_MAX_ROWS = 200
Rows = list[dict[str, Any]]


def targets(change: MetricsChange) -> Rows:
    """Each target that was asked or is watched, those in trouble first. `breaker` and `health` are
    words, null if unknown."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for name, words in (("breaker", upstreams.BREAKER), ("health", health.HEALTH)):
        for labels, state in change.gauges(words.name):
            key = labels.get("upstream", ""), labels.get("target", "")
            rows.setdefault(key, {"breaker": 0, "health": 0})[name] = int(state)
    ordered = sorted(rows.items(), key=lambda row: (-row[1]["breaker"], -row[1]["health"], row[0]))
    return [
        {
            "upstream": upstream,
            "target": target,
            "breaker": BREAKER_STATES.get(row["breaker"], "?"),
            "health": STATES[row["health"]],
        }
        for (upstream, target), row in ordered[:_MAX_ROWS]
    ]


def queues(change: MetricsChange) -> Rows:
    """Each queue, the longest first: requests `in_flight` of at most `bound`, and those that
    wait."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for name, metric in (
        ("in_flight", admission.IN_FLIGHT),
        ("bound", admission.BOUND),
        ("waiting", admission.WAITING),
    ):
        for labels, value in change.gauges(metric.name):
            key = labels.get("upstream", ""), labels.get("target", "")
            row = {"upstream": key[0], "target": key[1], "in_flight": 0, "bound": 0, "waiting": 0}
            rows.setdefault(key, row)[name] = int(value)
    ordered = sorted(rows.values(), key=lambda row: (-row["waiting"], -row["in_flight"]))
    return ordered[:_MAX_ROWS]
