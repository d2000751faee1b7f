"""How exchanges end."""

import pytest

from engine.exchange.outcome import Outcome


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
