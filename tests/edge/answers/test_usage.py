"""`answer: usage`: its parameters, and who may ask."""

from __future__ import annotations

import json

import pytest

from engine.edge.answers import usage
from engine.edge.answers.own_answer import AnswerSources
from engine.stores.usage_query import UsageQuery
from engine.values.caller import Caller
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange

TODAY = 20_833  # 2027-01-15


class Usage:
    def sums(self, caller, query):
        return {"caller": caller.name, "query": query._asdict()}


def ask(query="", caller=Caller("ann")):  # noqa: B008 - a frozen value
    sources = AnswerSources(None, [], usage=Usage(), clock=lambda: TODAY * 86_400 + 5.0)
    exchange = new_exchange(caller=caller)
    exchange.query = query
    return usage.handler(sources)(exchange)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", UsageQuery(TODAY - 29, TODAY)),
        ("days=7", UsageQuery(TODAY - 6, TODAY)),
        ("of=team&days=92", UsageQuery(TODAY - 91, TODAY, of_team=True)),
        ("of=token&days=1", UsageQuery(TODAY, TODAY)),
        ("by=day&from=2027-01-01", UsageQuery(TODAY - 14, TODAY, "day")),
        ("by=model&from=2027-01-01&to=2027-01-02", UsageQuery(TODAY - 14, TODAY - 13, "model")),
        ("by=tag%3Acustomer&to=2027-01-02&days=2", UsageQuery(20_819, 20_820, "tag:customer")),
        ("to=2999-01-01&days=1", UsageQuery(TODAY, TODAY)),
        ("days=&from=&to=&by=&of=", UsageQuery(TODAY - 29, TODAY)),
        ("token=ben&team=ads&name=ben", UsageQuery(TODAY - 29, TODAY)),
    ],
)
def test_parameters(query, expected):
    response = ask(query)
    assert json.loads(response.body) == {"caller": "ann", "query": expected._asdict()}
    assert ("cache-control", "no-store") in response.headers


@pytest.mark.parametrize(
    "query",
    [
        *("days=0", "days=93", "days=-1", "days=x", "days=1&from=2027-01-01", "days=%D9%A1"),
        *("of=ben", "of=Team", "of=token&of=everybody", "by=token", "by=team", "by=tag", "by=Day"),
        *("from=2026-10-15", "from=2027-01-16", "from=x", "from=2027-02-30", "from=2027-1-1"),
        *("to=2027-01-01T00:00:00Z", "to=0", "from=0001-01-01&to=9999-12-31", "to=-"),
    ],
)
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
