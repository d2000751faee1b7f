"""Verdicts on counts: growth fails; and what is counted as a move."""

from __future__ import annotations

import json

import pytest

from benchmarks.counts.meters import Moves
from benchmarks.counts.verdict import judge
from engine.values.redaction import redact_keys, redact_tokens
from tests.support.paths import ROOT

RECORD = ROOT / "benchmarks" / "counts.json"


@pytest.mark.parametrize(
    ("now", "good", "says"),
    [
        (1000, True, "1,000, on record 1,000 (+0.0%)"),
        (1050, True, "+5.0%"),
        (1051, False, "more than 5%"),
        (949, True, "hides the next growth"),
    ],
)
def test_a_figure_may_grow_by_five_per_cent(now, good, says):
    verdict = judge("bytecodes per request", 1000, now)
    assert verdict.good is good
    assert says in verdict.text


def test_the_record_holds_what_is_compared():
    for python, record in json.loads(RECORD.read_text()).items():
        assert python.startswith("3.")
        assert record["request"] > record["event"] > 0


def test_a_move_is_a_call_into_another_module_of_the_engine():
    twice = moves(lambda: redact_tokens("/v1") + redact_keys("a"))
    assert twice == (1, 2)  # `redact_keys` calls the other in its own module
    assert moves(lambda: len("not of the engine")) == (0, 0)


def moves(call):
    meter = Moves()
    meter.begin()
    call()
    meter.end()
    return len(meter.modules), meter.calls.total()
