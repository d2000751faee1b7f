"""`answer: usage_requests`: its parameters, and who may ask."""

from __future__ import annotations

import json

import pytest

from engine.edge.answers import usage_requests
from engine.edge.answers.own_answer import AnswerSources
from engine.values.caller import Caller
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange

END = 253_402_300_799.0


class Usage:
    def requests(self, caller, before, limit):
        return {"caller": caller.name, "before": before, "limit": limit}


def ask(query="", caller=Caller("ann")):  # noqa: B008 - a frozen value
    exchange = new_exchange(caller=caller)
    exchange.query = query
    return usage_requests.handler(AnswerSources(None, [], usage=Usage()))(exchange)


@pytest.mark.parametrize(
    ("query", "before", "limit"),
    [
        ("", END, 20),
        ("limit=100", END, 100),
        ("limit=1&before=2027-01-15T08:00:00Z", 1_800_000_000.0, 1),
        ("before=2027-01-15T08:00:00.25Z&token=ben", 1_800_000_000.25, 20),
    ],
)
def test_parameters(query, before, limit):
    answer = json.loads(ask(query).body)
    assert answer == {"caller": "ann", "before": before, "limit": limit}


@pytest.mark.parametrize(
    "query",
    [
        *("limit=0", "limit=101", "limit=-1", "limit=1e9", "limit=x", "before=now", "before=1"),
        *("before=2027-01-15", "before=2027-13-01T00:00:00Z", "before=2027-01-15T08:00:00%2B01:00"),
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
