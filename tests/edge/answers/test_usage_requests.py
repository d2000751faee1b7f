"""`answer: usage_requests`: its parameters, and who may ask."""

from __future__ import annotations

import json

import pytest

from engine.edge.answers import usage_requests
from engine.edge.answers.own_answer import AnswerSources
from engine.values.caller import Caller
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange


class Usage:
    def requests(self, caller, after, limit):
        return {"caller": caller.name, "after": after, "limit": limit}


def ask(query="", caller=Caller("ann")):  # noqa: B008 - a frozen value
    exchange = new_exchange(caller=caller)
    exchange.query = query
    return usage_requests.handler(AnswerSources(None, [], usage=Usage()))(exchange)


@pytest.mark.parametrize(
    ("query", "after", "limit"),
    [
        ("", "", 20),
        ("limit=100&after=", "", 100),
        ("limit=1&after=req_1", "req_1", 1),
        ("after=%27OR&token=ben", "'OR", 20),
    ],
)
def test_parameters(query, after, limit):
    assert json.loads(ask(query).body) == {"caller": "ann", "after": after, "limit": limit}


@pytest.mark.parametrize(
    "query",
    [
        *("limit=0", "limit=101", "limit=-1", "limit=1e9", "limit=x", "after=a%20b", "after=%00"),
        *(f"after={'x' * 257}", "after=%C3%A9"),
    ],
)
def test_other_values_are_refused(query):
    with pytest.raises(GatewayError) as raised:
        ask(query)
    assert (raised.value.status, raised.value.code) == (400, "invalid_value")


def test_a_request_without_a_token_has_none():
    with pytest.raises(GatewayError) as raised:
        ask(caller=None)
    assert raised.value.status == 401


def test_no_limit_refuses_it():
    assert usage_requests.ANSWER.is_free
