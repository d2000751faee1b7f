"""The usage of attempts whose answers do not reach the caller."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest
from gevent import GreenletExit

from engine import dialects
from engine.exchange.exchange import Exchange
from engine.exchange.request_body import Body
from engine.exchange.request_record import UnusedAnswer
from engine.upstream.attempts.attempt import attempt
from engine.upstream.client.failures import Truncated
from engine.upstream.requests.build_request import build_request
from engine.upstream.responses.attempt_result import AttemptResult
from engine.values.usage import OutputFields, Takes, Usage
from tests.support.each import each
from tests.support.exchanges import new_exchange
from tests.support.upstreams import EVENTS, JSON, Client, FakeResponse, target

ANTHROPIC = dialects.get("anthropic")
START = (
    b'event: message_start\ndata: {"type":"message_start","message":{"usage":'
    b'{"input_tokens":25,"output_tokens":1}}}\n\n'
)
PING = b'event: ping\ndata: {"type":"ping"}\n\n'
ERROR = b'data: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n'
REPORTED = Usage(input=25, output=1, source="estimated")


class Interrupted(FakeResponse):
    """The attempt is ended while it waits for more than these pieces."""

    def read(self, on_data: Any = None, beat: float | None = None) -> bytes:
        if not self.pieces:
            raise GreenletExit
        return super().read(on_data, beat)


def chat(**fields: Any) -> Exchange:
    body = orjson.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi " * 20}]})
    takes = Takes(output=OutputFields(limits=(("max_tokens",),)))
    more = {"dialect": ANTHROPIC, "takes": takes, "model": "m", **fields}
    return new_exchange(body=Body(body), value=orjson.loads(body), **more)


def run(exchange: Exchange, response: FakeResponse) -> AttemptResult:
    east = replace(target(Client(response), name="east"), model="theirs")
    exchange.record.attempt_count = 2
    request = build_request(east, exchange, east.upstream.headers(()), None)
    return attempt(east, None, request, exchange, ANTHROPIC, 9.0)


@each(
    "pieces",
    [[START, ERROR], [START + ERROR], [START, Truncated()], [START, PING], [PING, START, b"?\n\n"]],
)
def test_what_a_stream_reports_before_it_fails_is_kept(pieces: list[Any]) -> None:
    exchange = chat()
    result = run(exchange, FakeResponse(200, EVENTS, pieces))
    assert result.failure
    assert not result.is_unusable
    assert exchange.record.unused == (UnusedAnswer(2, "m", "east", "theirs", REPORTED),)


def test_what_a_stream_reports_before_its_attempt_is_ended_is_kept() -> None:
    exchange = chat()
    with pytest.raises(GreenletExit):
        run(exchange, Interrupted(200, EVENTS, [START, PING]))
    assert [each.usage for each in exchange.record.unused] == [REPORTED]


@each(
    "response",
    [
        FakeResponse(200, EVENTS, [PING, ERROR]),
        FakeResponse(200, EVENTS, [Truncated()]),
        FakeResponse(200, [("content-type", "text/html")], [b"<html>"]),
        FakeResponse(503, JSON, [b'{"usage":{"input_tokens":25}}']),
    ],
)
def test_an_attempt_that_reported_nothing_has_no_usage(response: FakeResponse) -> None:
    exchange = chat()
    assert run(exchange, response).failure
    assert exchange.record.unused == ()


def test_a_request_that_is_not_metered_has_no_usage() -> None:
    exchange = chat(takes=None)
    assert run(exchange, FakeResponse(200, EVENTS, [START, ERROR])).failure
    assert exchange.record.unused == ()
