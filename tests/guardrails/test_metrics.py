"""Verdicts are counted."""

from collections import Counter

from engine.guardrails.metrics import VERDICTS, verdict_collector


def test_each_verdict_is_a_sample():
    counts = Counter({("w", "request", "pass"): 3})
    collect = verdict_collector(counts)
    assert list(collect()) == [(VERDICTS, ("w", "request", "pass"), 3)]
    counts["w", "request", "pass"] += 1
    assert [count for _, _, count in collect()] == [4]
