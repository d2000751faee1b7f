"""The result of a request that a limit refuses."""

from engine.values.counters import LimitState, refusal


def test_a_refusal_lists_the_state_of_every_limit_in_order():
    states = [LimitState(3, 60.0), LimitState(0, 12.0, 4.5)]
    result = refusal(1, states)
    assert (result.denied, result.remaining, result.resets) == (1, [3, 0], [60.0, 12.0])
    assert result.waits == [0.0, 4.5]


def test_a_refusal_has_nothing_to_settle():
    assert refusal(0, [LimitState(0, 1.0, 1.0)]).receipt is None
