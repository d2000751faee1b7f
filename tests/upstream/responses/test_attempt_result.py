"""What an attempt learned, and the target that the record of its request names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest
from gevent import GreenletExit

from engine import dialects
from engine.dialects import StreamError
from engine.exchange.exchange import Exchange
from engine.exchange.request_body import Body
from engine.exchange.request_record import RUNNING, RequestRecord, UnusedAnswer
from engine.upstream.attempts.attempt import attempt
from engine.upstream.client.failures import Reset, Truncated
from engine.upstream.requests.build_request import build_request
from engine.upstream.responses.attempt_result import AttemptResult, set_target
from engine.values.usage import OutputFields, Takes, Usage
from tests.support.each import each
from tests.support.exchanges import new_exchange
from tests.support.upstreams import EVENTS, JSON, Client, FakeResponse, failure, target


def result(response: FakeResponse | None = None) -> AttemptResult:
    return AttemptResult(target(Client()), response=response)


def test_the_status_is_the_upstreams_or_that_of_an_error_event() -> None:
    assert result().status == 0
    attempted = result(FakeResponse(200))
    assert attempted.status == 200
    attempted.stream_error = StreamError(529, {})
    assert attempted.status == 529


def test_an_upstream_is_reached_by_an_answer_or_by_a_request_that_was_sent() -> None:
    assert not result().reached
    assert result(FakeResponse(503)).reached
    for sent in (False, True):
        broken = result()
        broken.error = failure(Reset)
        broken.error.request_sent = sent
        assert broken.reached is sent


def test_an_answer_that_breaks_off_counts_against_its_target() -> None:
    attempted = result(FakeResponse(200))
    breaker = attempted.target.state.breaker
    for _ in range(20):
        attempted.broke_off(RequestRecord())
    assert not breaker.allows(0.0)
    attempted.close()
    assert attempted.response is not None
    assert attempted.response.closed == 1  # type: ignore[attr-defined]


def test_an_attempt_that_broke_off_is_no_success_in_the_record() -> None:
    record, attempted = RequestRecord(), result(FakeResponse(200))
    attempted.attempt = RUNNING._replace(target="east/m", start=5.0, seconds=0.1)
    first = RUNNING._replace(failure="429")
    record.attempts = [first, attempted.attempt]
    attempted.broke_off(record, "")  # the request was at fault
    assert record.attempts == [first, attempted.attempt]
    attempted.broke_off(record, "error")
    assert record.attempts[0] is first
    assert (record.attempts[1].target, record.attempts[1].failure) == ("east/m", "error")
    assert record.attempts[1].seconds > 0.1


def test_the_record_names_the_target_and_what_it_serves() -> None:
    record = RequestRecord()
    named = replace(target(Client(), name="east"), model="theirs", entry="gpt-*")
    set_target(record, named, "gpt-5")
    assert (record.upstream, record.upstream_model) == ("east", "theirs")
    assert (record.model, record.served_entry) == ("gpt-5", "gpt-*")
    assert record.usage == Usage()


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
