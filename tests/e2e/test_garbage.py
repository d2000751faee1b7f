"""However a request ends, nothing of it is left to the garbage collector."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

TOLD = {
    "answered": 200,
    "streamed": 200,
    "refused by the upstream": 500,
    "unanswered": 502,
    "reset": 502,
    "late": 504,
    "answered in no HTTP": 502,
    "cut": 200,
    "stalled": 200,
    "left before the answer": 0,
    "left in the answer": 0,
    "without a token": 401,
    "asked in no HTTP": 400,
}
"""Each way, and the status by which one sees that it went that way."""


@pytest.fixture(scope="module")
def left():
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.garbage"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize(("way", "status"), TOLD.items())
def test_a_request_is_gone_when_it_is_over(left, way, status):
    assert left[way] == [status, 0]
