"""Latency that a system adds."""

from __future__ import annotations

import pytest

from benchmarks.compare.load import Load
from benchmarks.compare.measure import added_latency


def test_what_the_upstream_takes_by_itself_is_not_added_latency():
    base = Load(9000, 1.0, {"p50": 0.1, "p99": 0.2, "p99.9": 0.3})
    load = Load(9000, 1.0, {"p50": 0.4, "p99": 0.7, "p99.9": 1.3})
    figures = added_latency("plain_1", load, base)
    assert figures == {
        "p50_plain_1": pytest.approx(0.3),
        "p99_plain_1": pytest.approx(0.5),
        "p99.9_plain_1": pytest.approx(1.0),
    }


def test_a_percentile_that_one_of_both_does_not_know_is_left_out():
    base, load = Load(900, 1.0, {"p50": 0.1}), Load(9000, 1.0, {"p50": 0.4, "p99": 0.7})
    assert set(added_latency("plain_1", load, base)) == {"p50_plain_1"}
