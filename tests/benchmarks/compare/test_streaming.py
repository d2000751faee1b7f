"""Events counted between two moments."""

from __future__ import annotations

import pytest

from benchmarks.compare.streaming import between


def test_events_between_two_looks_are_interpolated():
    samples = [(10.0, 100), (10.1, 200), (10.2, 400)]
    assert between(samples, 10.05, 10.2) == pytest.approx(250)
    assert between(samples, 10.0, 10.15) == pytest.approx(200)
    with pytest.raises(ValueError, match="not seen"):
        between(samples, 9.0, 10.1)
    with pytest.raises(ValueError, match="not seen"):
        between(samples, 10.0, 10.3)
