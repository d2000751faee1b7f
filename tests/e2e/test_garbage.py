"""However a request ends, it leaves no reference cycles to the garbage collector."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.support.paths import ROOT

ENDS = {
    "answered": "complete",
    "streamed": "complete",
    "refused by the upstream": "failed",
    "refused in half": "failed",
    "unanswered": "failed",
    "reset": "failed",
    "late": "failed",
    "answered in no HTTP": "failed",
    "answered in half": "upstream_cut",
    "answered in no answer": "failed",
    "cut": "upstream_cut",
    "stalled": "upstream_cut",
    "left before the answer": "caller_left",
    "left in the answer": "caller_left",
    "at the second address": "complete",
    "at no address": "failed",
    "without a token": "refused",
    "asked in no HTTP": "refused",
    "asked for no model": "refused",
    "asked against the document": "refused",
    "translated": "complete",
    "translated as a stream": "complete",
    "translated and cut": "upstream_cut",
    "translated for the second target": "failed",
    "translated from no answer": "failed",
    "not to be translated": "refused",
    "not to be read": "refused",
}


@pytest.fixture(scope="module")
def garbage():
    result = subprocess.run(
        [sys.executable, "-m", "tests.support.garbage"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    return json.loads(result.stdout)


@pytest.mark.parametrize(("way", "outcome"), ENDS.items())
def test_a_request_is_gone_when_it_is_over(garbage, way, outcome):
    assert garbage[way] == [outcome, 0]


def test_every_way_is_expected(garbage):
    assert garbage.keys() == ENDS.keys()
