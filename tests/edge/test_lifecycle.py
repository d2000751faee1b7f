"""Open exchanges: who observes their beginning and end, and how a worker that stops ends them."""

import contextlib

import gevent
import gevent.event
import orjson
import pytest

from engine.edge.lifecycle import RequestLifecycle
from engine.exchange.exchange import Response
from engine.exchange.outcome import Outcome
from engine.values.errors import AbortConnection, AbortReason, GatewayError, Malformed
from tests.support.endpoints import ANTHROPIC, GEMINI, OPENAI, Gateway, fail, ok, raising
from tests.support.exchanges import new_exchange
from tests.support.waiting import PATIENCE


def test_an_exchange_is_open_until_its_end():
    ended = []
    lifecycle = RequestLifecycle([ended.append], lambda: 1000.0)
    exchange = new_exchange()
    assert lifecycle.observe(exchange, lambda request: Response(204, [])).status == 204
    assert (lifecycle.open, ended, exchange.record.time) == (1, [], 1000.0)
    exchange.end()
    assert (lifecycle.open, ended) == (0, [exchange])


def test_an_observer_that_fails_is_logged_and_the_others_run(caplog):
    ended = []
    lifecycle = RequestLifecycle([lambda exchange: 1 / 0, ended.append])
    exchange = new_exchange("GET", "/", "", {}, "req_1")
    lifecycle.enter(exchange)
    exchange.end()
    assert ended == [exchange]
    assert "req_1: an observer of its end failed" in caplog.text


def test_a_response_of_the_server_itself_is_observed():
    ended = []
    lifecycle, exchange = RequestLifecycle([ended.append]), new_exchange()
    exchange.record.end(503, Outcome.FAILED, "too_many_connections")
    lifecycle.record_refusal(exchange)
    assert (ended, lifecycle.open) == ([exchange], 0)
    assert (exchange.record.status, exchange.record.outcome) == (503, "failed")


def record_of(handler):
    """The record of a request that a handler answers, as an observer finds it at the end."""
    gateway = Gateway(handler)
    with contextlib.suppress(AbortConnection):
        body = gateway.post()
        assert (gateway.exchanges, gateway.lifecycle.open) == ([], 1)  # not before it is over
        body.close()
        body.close()
    (exchange,) = gateway.exchanges
    assert (gateway.lifecycle.open, exchange.operation) == (0, "openai.chat")
    return exchange.record


@pytest.mark.parametrize(
    ("handler", "status", "outcome", "code"),
    [
        (lambda exchange: Response(200, [], b"abc"), 200, "complete", ""),
        (lambda exchange: Response(404, [], b"abc"), 404, "refused", ""),
        (lambda exchange: Response(503, [], b"abc"), 503, "failed", ""),
        (raising(GatewayError(401, "invalid_api_key", "who?")), 401, "refused", "invalid_api_key"),
        (raising(GatewayError(504, "upstream_timeout", "late")), 504, "failed", "upstream_timeout"),
        (raising(Malformed("no UTF-8")), 400, "refused", "invalid_value"),
        (raising(AbortConnection(AbortReason.CALLER_LEFT)), 499, "caller_left", ""),
        (raising(AbortConnection(AbortReason.RESPONSE_BROKE_OFF)), 499, "upstream_cut", ""),
        (raising(AbortConnection(AbortReason.SHUTDOWN)), 499, "shutdown", ""),
        (raising(AbortConnection(AbortReason.REVOKED)), 499, "revoked", ""),
        (raising(AbortConnection(AbortReason.SESSION_ENDED)), 101, "complete", ""),
        (raising(ZeroDivisionError()), 500, "failed", "internal_error"),
        (lambda exchange: Response(200, [], iter([b"a"])), 200, "caller_left", ""),  # nobody read
    ],
)
def test_every_end_is_observed_once(handler, status, outcome, code):
    record = record_of(handler)
    assert (record.status, record.outcome, record.code) == (status, outcome, code)
    assert 0 <= record.gateway_time <= record.duration


def test_a_beginning_that_cannot_be_noted_is_logged_and_the_request_goes_on(caplog):
    gateway = Gateway(ok, begin=fail)
    body = gateway.post()
    assert b"".join(body) == b"fine"
    body.close()
    assert (gateway.results, gateway.lifecycle.open) == ([(200, "complete", "")], 0)
    assert "the observer of its begin failed" in caplog.text


@pytest.mark.parametrize("dialect", [OPENAI, ANTHROPIC, GEMINI], ids=lambda d: d.name)
def test_a_request_that_waits_when_its_worker_ends_is_answered_503_in_its_dialect(dialect):
    gateway = Gateway(lambda exchange: gevent.sleep(60), dialect)
    waiting = gevent.spawn(lambda: b"".join(gateway.post()))
    gevent.sleep(0)
    assert gateway.lifecycle.open == 1
    gateway.lifecycle.interrupt()
    body = orjson.loads(waiting.get(timeout=PATIENCE))
    assert dialect.is_error(body)
    assert "Send it again" in body["error"]["message"]
    assert (gateway.status, gateway.results) == (503, [(503, "shutdown", "shutting_down")])
    assert gateway.lifecycle.open == 0


def test_an_exchange_that_is_about_to_end_is_cut_only_by_the_second_call():
    called = []

    def handler(exchange):
        exchange.on_end.append(lambda: gevent.sleep(60))
        exchange.on_end.append(lambda: called.append(exchange))
        return ok(exchange)

    gateway = Gateway(handler)
    ending = gevent.spawn(lambda: b"".join(gateway.post()))
    gevent.sleep(0)
    gateway.lifecycle.interrupt()
    gevent.sleep(0)
    assert (gateway.lifecycle.open, len(called)) == (1, 1)
    gateway.lifecycle.interrupt()
    ending.join(PATIENCE)
    assert (gateway.lifecycle.open, gateway.results) == (0, [(200, "complete", "")])


@pytest.mark.parametrize(
    ("cut", "outcome"),
    [
        (lambda lifecycle, exchange: lifecycle.interrupt(), "shutdown"),
        (RequestLifecycle.revoke, "revoked"),
    ],
)
def test_a_stream_that_its_caller_does_not_take_is_cut_with_the_reason(cut, outcome):
    gateway = Gateway(lambda exchange: Response(200, [], iter([b"a", b"b"])))

    def send():
        body = gateway.post()
        try:
            for _ in body:
                gevent.sleep(60)  # the caller's socket is full
        finally:
            body.close()

    sending = gevent.spawn(send)
    gevent.sleep(0)
    (exchange,) = gateway.lifecycle.open_exchanges()
    cut(gateway.lifecycle, exchange)
    sending.join(PATIENCE)
    assert gateway.results == [(200, outcome, "")]


@pytest.mark.parametrize("dialect", [OPENAI, ANTHROPIC, GEMINI], ids=lambda d: d.name)
def test_a_request_that_waits_when_its_token_is_revoked_is_answered_401_in_its_dialect(dialect):
    gateway = Gateway(lambda exchange: gevent.sleep(60), dialect)
    waiting = gevent.spawn(lambda: b"".join(gateway.post()))
    gevent.sleep(0)
    (exchange,) = gateway.lifecycle.open_exchanges()
    gateway.lifecycle.revoke(exchange)
    body = orjson.loads(waiting.get(timeout=PATIENCE))
    assert dialect.is_error(body)
    assert "has expired or was revoked" in body["error"]["message"]
    assert (gateway.status, gateway.results) == (401, [(401, "revoked", "invalid_api_key")])
    gateway.lifecycle.revoke(exchange)  # it has ended: nothing happens
    assert gateway.lifecycle.open == 0


def test_a_request_that_its_caller_cancels_by_another_one_is_answered():
    gateway = Gateway(lambda exchange: gevent.sleep(60), OPENAI)
    waiting = gevent.spawn(lambda: b"".join(gateway.post()))
    gevent.sleep(0)
    (exchange,) = gateway.lifecycle.open_exchanges()
    gateway.lifecycle.cancel(exchange)
    body = orjson.loads(waiting.get(timeout=PATIENCE))
    assert body["error"]["code"] == "cancelled"
    assert (gateway.status, gateway.results) == (499, [(499, "caller_left", "cancelled")])
    gateway.lifecycle.cancel(exchange)  # it has ended: nothing happens


def test_drain_waits_for_the_last_exchange_up_to_its_timeout():
    go_on = gevent.event.Event()
    gateway = Gateway(lambda exchange: go_on.wait(30) and ok(exchange))
    gevent.spawn(lambda: b"".join(gateway.post()))
    gevent.sleep(0)
    gateway.lifecycle.drain(0.0)
    assert gateway.lifecycle.open == 1
    gevent.spawn(go_on.set)
    gateway.lifecycle.drain(30.0)
    assert gateway.lifecycle.open == 0
