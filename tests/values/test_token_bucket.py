"""The token bucket."""

import pytest

from engine.values.token_bucket import TokenBucket


def test_a_bucket_allows_a_burst_and_then_its_rate():
    bucket = TokenBucket(2.0, 60.0, now=100.0)
    assert [bucket.take(100.0) for _ in range(61)] == [0.0] * 60 + [0.5]
    assert bucket.take(100.2) == pytest.approx(0.3)
    assert bucket.take(100.5) == 0.0
    assert bucket.take(100.6) == pytest.approx(0.4)
    assert [bucket.take(1000.0) for _ in range(61)] == [0.0] * 60 + [0.5]
