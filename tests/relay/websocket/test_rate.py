"""The token bucket."""

from engine.relay.websocket.rate import Rate


def test_so_many_at_once_and_then_as_many_a_minute():
    rate = Rate(60, 100.0)
    assert [rate.take(100.0) for _ in range(61)] == [True] * 60 + [False]
    assert not rate.take(100.5)
    assert rate.take(101.5)
    assert not rate.take(101.6)
    assert [rate.take(1000.0) for _ in range(61)] == [True] * 60 + [False]
