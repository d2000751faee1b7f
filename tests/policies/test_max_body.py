"""The policy `max_body`."""

import pytest

from engine.exchange.exchange import Response
from engine.exchange.request_body import Body, ReceivedBody
from engine.exchange.stage_services import Services
from engine.policies.max_body import POLICY
from tests.support.exchanges import new_exchange


@pytest.mark.parametrize(
    ("server", "policy", "limit"), [(100, "50B", 50), (100, "1KB", 100), (5000, "1KiB", 1024)]
)
def test_max_body_lowers_the_limit_and_never_raises_it(server, policy, limit):
    exchange = new_exchange("POST", "/", "", {})
    exchange.body_reader = ReceivedBody(Body(), server)
    stage = POLICY.build(POLICY.read(policy), Services())
    assert (
        stage(exchange, lambda exchange: Response(200, [], exchange.body_reader.max_size)).body
        == limit
    )
