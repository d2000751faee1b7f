"""How an exchange ends that the gateway interrupts."""

import pytest
from gevent import GreenletExit

from engine.exchange.interruption import TokenRevoked, interruption


@pytest.mark.parametrize(
    ("cause", "outcome", "status", "code"),
    [
        (GreenletExit(), "shutdown", 503, "shutting_down"),
        (TokenRevoked(), "revoked", 401, "invalid_api_key"),
    ],
)
def test_the_outcome_and_the_error_follow_from_the_cause(cause, outcome, status, code):
    result = interruption(cause)
    assert (result.outcome, result.error.status, result.error.code) == (outcome, status, code)
    assert result.reason.name.lower() == outcome
