"""Verdicts on counts: growth fails; counts of different installations are not compared."""

from __future__ import annotations

import json

import pytest

from benchmarks.counts.alike import difference
from benchmarks.counts.verdict import judge
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
    verdict = judge("instructions per request", 1000, now)
    assert verdict.good is good
    assert says in verdict.text


def test_what_differs_is_named():
    recorded = {"python": "3.11.7", "orjson": "3.11.0"}
    assert difference(recorded, dict(recorded)) == ""
    now = {"python": "3.11.7", "orjson": "3.12.0", "lmdb": "3"}
    assert difference(recorded, now) == "orjson 3.12.0, not 3.11.0, lmdb 3, not none"


def test_the_record_holds_what_is_compared():
    for python, record in json.loads(RECORD.read_text()).items():
        assert python.startswith("3.")
        for kind in ("bytecodes", "instructions"):
            assert record[kind]["request"] > record[kind]["event"] > 0
        assert record["instructions"]["with"]["python"].startswith(python)
