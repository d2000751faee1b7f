"""How exchanges end."""

import pytest
from gevent import GreenletExit

from engine.exchange.outcome import Outcome, TokenRevoked, interruption


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (101, Outcome.COMPLETE),
        (200, Outcome.COMPLETE),
        (399, Outcome.COMPLETE),
        (400, Outcome.REFUSED),
        (499, Outcome.REFUSED),
        (500, Outcome.FAILED),
        (529, Outcome.FAILED),
    ],
)
def test_the_status_of_a_complete_response_is_its_outcome(status, outcome):
    assert Outcome.of_status(status) is outcome


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
