"""The trial of an alternative. The choice among several is in test_alternatives.py."""

from __future__ import annotations

import pytest

from engine.exchange.body import Body
from engine.stages.alternative import received_again
from engine.values.errors import GatewayError


def test_the_limit_of_an_operation_applies_to_the_body_as_it_was_received() -> None:
    received, read = Body(b"12345678"), Body(b"{}")
    assert received_again(received, read, 8) is read
    with pytest.raises(GatewayError) as refusal:
        received_again(received, read, 7)
    assert refusal.value.status == 413
