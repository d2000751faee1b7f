"""The policy `guard`: which side it judges, and what its options may be."""

import json

import pytest

from engine import policies
from engine.config.routes import Policy
from engine.exchange.exchange import Response
from engine.exchange.request_body import Body
from engine.exchange.stage_services import Services
from tests.support.exchanges import new_exchange
from tests.support.guard_calls import PlayedGuards

PASS = {"action": "pass"}
ANSWER = b'{"choices": [{"message": {"content": "hi"}}]}'


@pytest.mark.parametrize(
    ("sides", "stages"),
    [
        (None, ["request", "response"]),
        ("request", ["request"]),
        (["response"], ["response"]),
    ],
)
def test_it_judges_the_sides_of_its_option(sides, stages):
    options = {"webhook": "w"} | ({} if sides is None else {"on": sides})
    (step,) = policies.guards([Policy("guard", options, ())], "USD").written
    assert step.reads_body is ("request" in stages)
    webhooks = PlayedGuards([PASS, PASS])
    stage = step.stage(Services(guard_calls=webhooks))
    value = {"messages": [{"content": "hello"}]}
    exchange = new_exchange(
        body=Body(json.dumps(value).encode()), value=value, media_type="application/json"
    )
    headers = [("content-type", "application/json")]
    response = stage(exchange, lambda exchange: Response(200, headers, ANSWER))
    assert response.body == ANSWER
    assert [json.loads(body)["stage"] for body in webhooks.questions] == stages


def test_without_webhooks_nothing_passes_unjudged():
    (step,) = policies.guards([Policy("guard", {"webhook": "w"}, ())], "USD").written
    stage = step.stage(Services())
    value = {"messages": [{"content": "hello"}]}
    exchange = new_exchange(body=Body(b"{}"), value=value, media_type="application/json")
    with pytest.raises(Exception, match="could not be checked"):
        stage(exchange, lambda exchange: Response(200, [], ANSWER))


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"on": "response", "on_failure": "pass"}, None),
        ({"on": "response", "mode": "report"}, "bytes=9-"),
        ({"on": "request"}, "bytes=9-"),
    ],
)
def test_no_part_is_asked_for_where_answers_are_judged(options, part):
    options = {"webhook": "w"} | options
    (step,) = policies.guards([Policy("guard", options, ())], "USD").written
    stage = step.stage(Services(guard_calls=PlayedGuards([PASS])))
    seen = []

    def handler(exchange):
        seen.append(exchange.header("HTTP_RANGE"))
        return Response(200, [("content-type", "application/json")], ANSWER)

    stage(new_exchange("GET", environ={"HTTP_RANGE": "bytes=9-"}), handler)
    assert seen == [part]
