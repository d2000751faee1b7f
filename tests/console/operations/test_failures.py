"""Errors by kind."""

from engine.console.activity.metrics_change import MetricsChange, Snapshot, parse_samples
from engine.console.operations.failures import failures
from engine.telemetry.metrics.attempts import ATTEMPTS
from engine.telemetry.metrics.requests import REFUSALS
from tests.support.metrics import MetricsPage


def test_what_fails_most_now_is_first():
    metrics = MetricsPage()
    metrics[REFUSALS].labels("chat", "rate_limited").inc(50)
    before = Snapshot(0.0, parse_samples(metrics.text()))
    metrics[ATTEMPTS].labels("main", "429").inc(4)
    metrics.request(outcome="failed")
    metrics.request(outcome="refused")
    metrics.request()
    change = MetricsChange(before, Snapshot(2.0, parse_samples(metrics.text())))
    rows = [(row["of"], row["kind"], row["rate"], row["total"]) for row in failures(change)]
    assert rows == [
        ("attempt", "main: 429", 2.0, 4.0),
        ("attempt", "openai: 5xx", 1.0, 2.0),
        ("request", "failed", 0.5, 1.0),
        ("refusal", "rate_limited", 0.0, 50.0),
    ]
