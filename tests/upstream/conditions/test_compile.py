"""Conditions of rules, each on requests that meet it and that do not."""

import json
from datetime import UTC, datetime

import pytest

from engine.exchange.request_body import Body
from engine.spec.request_conditions import ConditionError
from engine.upstream.conditions.compile import claims_of, compile_conditions
from engine.upstream.conditions.request_facts import RequestFacts
from engine.values.caller import Caller, Team
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange

NOON = datetime(2026, 6, 5, 12, tzinfo=UTC).timestamp()
ADA = Caller(
    "ada",
    team="search",
    teams=(Team("search"), Team("company")),
    claims={"tenant": "acme", "groups[0]": "eu-users"},
)


def holds(conditions, body=None, caller=ADA, headers=(), **more):
    data = json.dumps(body or {}).encode()
    exchange = new_exchange(
        "POST", body=Body(data), value=body or {}, media_type="application/json", **more
    )
    exchange.caller = caller
    exchange.environ = {**exchange.environ, **dict(headers)}
    return compile_conditions(conditions, lambda: NOON).hold(RequestFacts(exchange))


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"body": {"n": 2}}, True),
        ({"body": {"n": [3, 4]}}, False),
        ({"body": {"n": {"minimum": 2}}}, True),
        ({"body": {"n": {"exclusiveMinimum": 2}}}, False),
        ({"body": {"/metadata/project": {"pattern": "^red"}}}, True),
        ({"body": {"/metadata/project": {"minimum": 0}}}, False),  # it is a text
        ({"body": {"absent": {}}}, False),
        ({"body": {"schema": {"required": ["n"]}}}, True),
        ({"caller": "ada"}, True),
        ({"caller": ["bob", "a*"]}, True),
        ({"caller": "bob"}, False),
        ({"team": "search"}, True),
        ({"team": "company"}, True),
        ({"team": "sales"}, False),
        ({"claim": {"tenant": ["beta", "acme"]}}, True),
        ({"claim": {"tenant": "acme", "groups[0]": "eu-*"}}, True),
        ({"claim": {"tenant": "acme", "groups[0]": "us-*"}}, False),
        ({"claim": {"region": "*"}}, False),
        ({"time": {"from": "12:00", "to": "13:00"}}, True),
        ({"time": {"from": "12:00", "to": "13:00", "time_zone": "Europe/Vienna"}}, False),
        ({"tokens": {"minimum": 1}}, True),
        ({"tokens": {"minimum": 1000}}, False),
        ({"tokens": {"maximum": 1000}}, True),
        ({"has": "image"}, False),
        ({"caller": "ada", "body": {"n": 3}}, False),  # all must hold
    ],
)
def test_a_condition_on_a_request(conditions, expected):
    body = {"n": 2, "metadata": {"project": "red-team"}}
    assert holds(conditions, body) is expected


def test_a_header_and_a_request_without_a_caller():
    sent = [("HTTP_X_TIER", "gold")]
    assert holds({"header": {"x-tier": ["gold", "silver"]}}, headers=sent)
    assert not holds({"header": {"x-tier": "gold"}})
    for kind in ({"caller": "*"}, {"team": "*"}, {"claim": {"tenant": "*"}}):
        assert not holds(kind, caller=None)


def test_a_value_that_is_given_twice_is_refused():
    body = b'{"n": {"a": 1, "a": 2}}'
    exchange = new_exchange(
        "POST", body=Body(body), value=json.loads(body), media_type="application/json"
    )
    conditions = compile_conditions({"body": {"n": {"type": "object"}}})
    with pytest.raises(GatewayError):
        conditions.hold(RequestFacts(exchange))


@pytest.mark.parametrize(
    ("conditions", "at", "words"),
    [
        ({"body": {"n": {"min": 2}}}, ("body", "n", "min"), "unknown keyword 'min'"),
        ({"body": {"n": {"minimum": "x"}}}, ("body", "n", "minimum"), "not a JSON Schema"),
        ({"claim": {"a..b": "x"}}, ("claim", "a..b"), "not the place of a claim"),
        ({"claim": {"a": "x" * 65}}, ("claim", "a"), "at most 64 printable ASCII"),
        ({"time": {"time_zone": "Mars"}}, ("time",), "not a time zone"),
        ({"tokens": {"minimum": 5, "maximum": 4}}, ("tokens",), "no request is that long"),
    ],
)
def test_a_condition_that_cannot_be_read_is_refused_at_its_place(conditions, at, words):
    with pytest.raises(ConditionError, match=words) as excinfo:
        compile_conditions(conditions)
    assert tuple(excinfo.value.at) == at


def test_what_conditions_read_is_known_before_a_request():
    by_body = [{"body": {"n": 1}}, {"tokens": {"minimum": 1}}, {"has": "image"}]
    assert all(compile_conditions(each).reads_body for each in by_body)
    assert not compile_conditions({"caller": "a", "header": {"x": 1}}).reads_body
    assert claims_of({"claim": {"tenant": "a", "sub": "b"}}) == {"tenant", "sub"}
    assert claims_of({"caller": "a"}) == frozenset()
