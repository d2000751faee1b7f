"""One row for every request, whatever becomes of it."""

from __future__ import annotations

import contextlib

import pytest

from engine.errors import CallerGone, GatewayError, Malformed
from engine.exchange import Exchange, Response
from engine.services import Services
from engine.stages.account import account
from engine.tokens import Caller
from engine.usage import Usage


def rows(following, **known):
    written = []
    services = Services(ledger=written.append, clock=lambda: 1000.0, currency="EUR")
    exchange = Exchange("POST", "/", "", {}, "req_1")
    for name, value in known.items():
        setattr(exchange, name, value)
    stage = account("openai.chat", services)
    with contextlib.suppress(GatewayError, CallerGone, Malformed, ZeroDivisionError):
        stage(exchange, following)
    assert written == []  # not before it is over
    exchange.end()
    exchange.end()
    return written


def raises(error):
    def following(exchange):
        raise error

    return following


@pytest.mark.parametrize(
    ("following", "status", "outcome"),
    [
        (lambda exchange: Response(200, [], b"abc"), 200, "complete"),
        (lambda exchange: Response(404, [], b"abc"), 404, "refused"),
        (lambda exchange: Response(503, [], b"abc"), 503, "failed"),
        (raises(GatewayError(401, "invalid_api_key", "who?")), 401, "refused"),
        (raises(GatewayError(429, "rate_limit_exceeded", "slow")), 429, "refused"),
        (raises(GatewayError(504, "upstream_timeout", "late")), 504, "failed"),
        (raises(CallerGone("gone")), 499, "caller_left"),
        (raises(ZeroDivisionError()), 500, "failed"),
        (lambda exchange: Response(200, [], iter([b"a"])), 200, "caller_left"),  # nobody read it
    ],
)
def test_every_end_is_one_row(following, status, outcome):
    (row,) = rows(following)
    assert (row.status, row.outcome) == (status, outcome)


def test_a_row_says_what_is_known():
    def following(exchange):
        exchange.caller = Caller("alice")
        exchange.model = "gpt"
        kept = exchange.account
        kept.upstream, kept.model, kept.attempts = "one", "gpt-4", 2
        kept.usage = Usage(input=3, output=4, source="upstream")
        kept.cost, kept.first_byte = 17, 0.25
        return Response(200, [], b"abc")

    (row,) = rows(following)
    assert (row.id, row.time, row.token, row.operation) == ("req_1", 1000.0, "alice", "openai.chat")
    assert (row.model_asked, row.model_served, row.upstream) == ("gpt", "gpt-4", "one")
    assert (row.input, row.output, row.source) == (3, 4, "upstream")
    assert (row.cost, row.currency, row.first_byte) == (17, "EUR", 0.25)
    assert (row.attempts, row.bytes_out) == (2, 3)
    assert 0 <= row.duration < 5


def test_without_a_ledger_nothing_waits_for_the_end():
    exchange = Exchange("GET", "/", "", {})
    account("openai.chat", Services())(exchange, lambda given: Response(200, [], b""))
    assert exchange.on_end == []
    assert exchange.operation == "openai.chat"


def test_a_request_that_cannot_be_decoded_is_refused():
    (row,) = rows(raises(Malformed("no UTF-8")))
    assert (row.status, row.outcome) == (400, "refused")
