"""Usage over the events of a message; single answers are cases of tests/cases/usage."""

from engine.dialects.anthropic.usage import METER


def test_an_input_that_is_none_beside_the_cache_is_none():
    tally = METER.tally()
    tally.take({"type": "message_start", "message": {"usage": {"input_tokens": 9_000}}})
    last = {"input_tokens": 0, "output_tokens": 9, "cache_read_input_tokens": 8_834}
    tally.take({"type": "message_delta", "usage": last})
    assert (tally.usage().input, tally.usage().cached) == (8_834, 8_834)
