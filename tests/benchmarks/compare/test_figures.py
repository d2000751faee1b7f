"""What becomes of the figures of several rounds."""

from __future__ import annotations

import pytest

from benchmarks.compare.chats import CHATS
from benchmarks.compare.figures import (
    CPU_AT,
    FIGURES,
    LATENCY_AT,
    Ratio,
    Verdict,
    median,
    ratio,
    scaling,
    verdict,
)


def test_ratios_are_made_round_by_round():
    other_rounds = [{"cpu": 900.0}, {"cpu": 1000.0}, {"cpu": 1200.0}]
    own_rounds = [{"cpu": 100.0}, {"cpu": 100.0}, {"cpu": 200.0}]
    assert ratio(other_rounds, own_rounds, "cpu") == Ratio(9.0, 6.0, 10.0, rounds=3)
    assert median(other_rounds, "cpu") == 1000.0


def test_a_figure_that_is_not_there_has_no_ratio():
    assert ratio([{}], [{"cpu": 1.0}], "cpu") is None
    assert ratio([{"cpu": 1.0}], [{"cpu": 0.0}], "cpu") is None
    assert ratio([{"p999": -0.1}], [{"p999": 1.0}], "p999") is None
    assert median([{}], "cpu") is None


def test_another_is_better_where_every_round_says_so():
    theirs = [{"memory": 50.0, "event_paced": 9.0}, {"memory": 60.0, "event_paced": 11.0}]
    ours = [{"memory": 100.0, "event_paced": 10.0}, {"memory": 100.0, "event_paced": 10.0}]
    title = "memory after load, all processes"
    either = ["CPU per SSE event, 20 ms apart"]
    assert verdict(theirs, ours) == Verdict([(title, 0.55)], either)


def test_one_round_alone_decides_nothing():
    assert verdict([{"memory": 1.0}], [{"memory": 2.0}]).better == []


def test_a_figure_of_which_more_is_better_is_no_reason_to_be_better():
    rounds = [{"per_core": 1.0}] * 2
    assert verdict(rounds, [{"per_core": 2.0}] * 2) == Verdict([], [])


def test_every_chat_has_its_figures():
    names = {figure.name for figure in FIGURES}
    assert len(names) == len(FIGURES)
    for chat in CHATS:
        assert {f"cpu_{chat}_{count}" for count in CPU_AT} <= names
        assert {f"p99.9_{chat}_{count}" for count in LATENCY_AT} <= names


def test_what_others_took_is_no_fault_of_a_second_worker():
    first = {"rate": 1000.0, "others": 0.3, "busy": 1.0}
    assert scaling(first, {"rate": 1400.0, "others": 0.3, "busy": 1.0}) == pytest.approx(2.0)
    # A worker that had its core for half of the time would have done twice as much.
    slowed = {"rate": 500.0, "others": 0.6, "busy": 0.5}
    assert scaling(slowed, {"rate": 1800.0, "others": 0.0, "busy": 1.0}) == pytest.approx(1.8)
