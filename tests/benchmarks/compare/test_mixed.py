"""Small chats beside large ones."""

from __future__ import annotations

import pytest

from benchmarks.compare.mixed import p99


def test_the_slowest_of_a_hundred_decides_the_percentile():
    assert p99([0.001] * 990 + [0.5] * 10) == pytest.approx(0.001, abs=0.01)
    assert p99([0.001] * 980 + [0.5] * 20) == 0.5
