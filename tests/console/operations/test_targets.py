"""Targets and queues, those in trouble first."""

from engine.console.activity.metrics_change import MetricsChange, Snapshot, parse_samples
from engine.console.operations.targets import queues, targets
from engine.upstream import metrics as upstreams
from engine.upstream.admission import metrics as admission
from engine.upstream.health import metrics as health
from tests.support.metrics import MetricsPage


def change(metrics):
    snapshot = Snapshot(1.0, parse_samples(metrics.text()))
    return MetricsChange(snapshot, snapshot)


def test_targets_have_a_breaker_and_their_health():
    metrics = MetricsPage()
    for name, state in (("a", 0), ("b", 2)):
        metrics[upstreams.BREAKER].labels("main", name).set(state)
    metrics[health.HEALTH].labels("main", "c").set(4)
    rows = [(row["target"], row["breaker"], row["health"]) for row in targets(change(metrics))]
    assert rows == [("b", "open", "in"), ("c", "closed", "ejected"), ("a", "closed", "in")]


def test_queues_have_the_longest_first():
    metrics = MetricsPage()
    for name, waiting in (("a", 0), ("b", 3)):
        metrics[admission.IN_FLIGHT].labels("main", name).set(2)
        metrics[admission.BOUND].labels("main", name).set(2)
        metrics[admission.WAITING].labels("main", name).set(waiting)
    rows = [
        (row["target"], row["in_flight"], row["bound"], row["waiting"])
        for row in queues(change(metrics))
    ]
    assert rows == [("b", 2, 2, 3), ("a", 2, 2, 0)]
