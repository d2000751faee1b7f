"""The trial of an alternative. The choice among several is in test_alternatives.py."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from engine.exchange.request_body import Body
from engine.stages.alternative_operation import Trial
from engine.values.errors import GatewayError
from tests.support.exchanges import BodySource, new_exchange


def test_the_limit_of_an_operation_applies_to_the_body_as_it_was_received() -> None:
    received, stripped = Body(b"12345678"), Body(b"{}")
    alternative: Any = SimpleNamespace(operation=SimpleNamespace(id="d.make"))
    candidate: Any = SimpleNamespace(resource=SimpleNamespace(mount="/m"), variables={})
    exchange = new_exchange(body_reader=BodySource(lambda limit: received))
    trial = Trial(alternative, candidate, 0, exchange)
    trial.exchange.body = stripped
    trial.become_judged(exchange, received)
    assert exchange.body_reader.receive(8) is stripped
    with pytest.raises(GatewayError) as refusal:
        exchange.body_reader.receive(7)
    assert refusal.value.status == 413
