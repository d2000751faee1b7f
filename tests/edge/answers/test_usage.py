"""`answer: usage`: its parameters, and who may ask."""

from __future__ import annotations

import json

import pytest

from engine.edge.answers import usage
from engine.edge.answers.own_answer import AnswerSources
from engine.values.caller import Caller
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange


def ask(query="", caller=Caller("ann")):  # noqa: B008 - a frozen value
    def of(caller, days, of_team):
        return {"caller": caller.name, "days": days, "of_team": of_team}

    handle = usage.handler(AnswerSources(None, [], usage=of))
    exchange = new_exchange(caller=caller)
    exchange.query = query
    return handle(exchange)


@pytest.mark.parametrize(
    ("query", "days", "of_team"),
    [
        ("", 30, False),
        ("days=7", 7, False),
        ("of=team&days=366", 366, True),
        ("of=token", 30, False),
    ],
)
def test_parameters(query, days, of_team):
    response = ask(query)
    assert json.loads(response.body) == {"caller": "ann", "days": days, "of_team": of_team}
    assert ("cache-control", "no-store") in response.headers


@pytest.mark.parametrize("query", ["days=0", "days=367", "days=-1", "days=x", "of=ben", "of=Team"])
def test_other_values_are_refused(query):
    with pytest.raises(GatewayError) as raised:
        ask(query)
    assert (raised.value.status, raised.value.code) == (400, "invalid_value")


def test_a_request_without_a_token_has_no_usage():
    with pytest.raises(GatewayError) as raised:
        ask(caller=None)
    assert raised.value.status == 401


def test_no_limit_refuses_it():
    assert usage.ANSWER.is_free
