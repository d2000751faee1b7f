"""Exchanges that are open, and who is told of their beginning and end.

How a worker's stop ends them is tested with their responses in test_endpoint.py.
"""

from engine.edge.lifecycle import RequestLifecycle
from engine.exchange.exchange import Response
from engine.exchange.record import Outcome
from tests.support.exchanges import new_exchange


def test_an_exchange_is_open_until_its_end():
    seen = []
    lifecycle = RequestLifecycle([seen.append], lambda: 1000.0)
    exchange = new_exchange()
    assert lifecycle.observe(exchange, lambda given: Response(204, [])).status == 204
    assert (lifecycle.open, seen, exchange.record.time) == (1, [], 1000.0)
    exchange.end()
    assert (lifecycle.open, seen) == (0, [exchange])


def test_an_observer_that_fails_is_logged_and_the_others_run(caplog):
    seen = []
    lifecycle = RequestLifecycle([lambda exchange: 1 / 0, seen.append])
    exchange = new_exchange("GET", "/", "", {}, "req_1")
    lifecycle.enter(exchange)
    exchange.end()
    assert seen == [exchange]
    assert "req_1: its end was not noted" in caplog.text


def test_a_response_of_the_server_itself_is_observed():
    seen = []
    lifecycle, exchange = RequestLifecycle([seen.append]), new_exchange()
    exchange.record.end(503, Outcome.FAILED, "too_many_connections")
    lifecycle.record_refusal(exchange)
    assert (seen, lifecycle.open) == ([exchange], 0)
    assert (exchange.record.status, exchange.record.outcome) == (503, "failed")
