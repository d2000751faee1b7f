"""The token bucket."""

from engine.values.token_bucket import TokenBucket


def test_a_bucket_allows_so_many_at_once_and_then_as_many_a_minute():
    bucket = TokenBucket(60, 100.0)
    assert [bucket.take(100.0) for _ in range(61)] == [True] * 60 + [False]
    assert not bucket.take(100.5)
    assert bucket.take(101.5)
    assert not bucket.take(101.6)
    assert [bucket.take(1000.0) for _ in range(61)] == [True] * 60 + [False]
