"""How an upstream's response is relayed: headers, errors, streams, heartbeats."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import gevent
import pytest
from gevent import GreenletExit

from engine import dialects
from engine.config.upstreams import BreakerConfig
from engine.exchange.exchange import Response
from engine.exchange.push_stream import PushStream
from engine.upstream.client import failures
from engine.upstream.client.deadlines import Timeouts
from engine.upstream.responses.attempt_result import AttemptResult
from engine.upstream.responses.first_content import read_first_content
from engine.upstream.responses.relay_response import relay
from engine.upstream.targets.target import Target
from engine.values.errors import AbortConnection, GatewayError
from engine.values.event_json import LONG_EVENT
from tests.support.documents import exchange
from tests.support.upstreams import (
    EVENTS,
    JSON,
    WATCHER,
    Client,
    FakeResponse,
    failure,
    returned_headers,
    target,
)

OPENAI, ANTHROPIC, GEMINI, PLAIN = map(dialects.get, ("openai", "anthropic", "gemini", "plain"))
MODELS = pytest.mark.parametrize("dialect", [OPENAI, ANTHROPIC, GEMINI], ids=lambda d: d.name)
EVERY = pytest.mark.parametrize("dialect", [OPENAI, ANTHROPIC, GEMINI, PLAIN], ids=lambda d: d.name)
ERRORS = {
    "openai": {"error": {"message": "no", "type": "t", "param": None, "code": None}},
    "anthropic": {"type": "error", "error": {"type": "t", "message": "no"}},
    "gemini": {"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT"}},
}


def relayed(dialect: Any, fake_response: FakeResponse, attempted: Target | None = None) -> Response:
    """The response that is relayed after an attempt that need not be retried."""
    response: Any = fake_response
    first_content = read_first_content(response, dialect) if fake_response.status < 400 else None
    result = AttemptResult(attempted or target(Client()), response=response, content=first_content)
    return relay(result, returned_headers(result, dialect), exchange(), dialect, WATCHER)


def body_of(response: Response) -> bytes:
    return response.body if isinstance(response.body, bytes) else b"".join(response.body)


def headers_of(response: Response, name: str) -> list[str]:
    return [value for field, value in response.headers if field == name]


def refusal(dialect: Any, fake_response: FakeResponse) -> GatewayError:
    with pytest.raises(GatewayError) as excinfo:
        relayed(dialect, fake_response)
    return excinfo.value


# What is relayed.


@EVERY
def test_a_complete_body_is_relayed_in_one_piece(dialect: Any) -> None:
    response = relayed(dialect, FakeResponse(200, JSON, [b'{"a":1}'], length=7, has_length=True))
    assert response.body == b'{"a":1}'


def test_a_response_to_head_has_the_length_of_the_upstream() -> None:
    response: Any = FakeResponse(200, JSON, [b""], length=7, has_length=True)
    request = exchange(method="HEAD")
    result = AttemptResult(
        target(Client()), response=response, content=read_first_content(response, PLAIN)
    )
    assert headers_of(
        relay(result, returned_headers(result, PLAIN), request, PLAIN, WATCHER), "content-length"
    ) == ["7"]


@EVERY
@pytest.mark.parametrize("status", [200, 201, 204, 206])
def test_a_response_is_relayed_unchanged(dialect: Any, status: int) -> None:
    fake_response = FakeResponse(status, [*JSON, ("etag", "1")], [b'{ "a":', b" 1 }"], length=10)
    response = relayed(dialect, fake_response)
    assert (response.status, body_of(response)) == (status, b'{ "a": 1 }')
    assert headers_of(response, "content-type") == ["application/json"]
    assert headers_of(response, "content-length") == ["10"]
    assert headers_of(response, "etag") == ["1"]


def test_parts_of_a_body_are_relayed_as_they_arrive() -> None:
    fake_response = FakeResponse(200, [("content-type", "audio/mpeg")], [b"\xff\x00", b"\x01"])
    response = relayed(OPENAI, fake_response)
    assert not isinstance(response.body, bytes)
    pieces = iter(response.body)
    assert next(pieces) == b"\xff\x00"
    assert fake_response.pieces == [b"\x01"]
    assert list(pieces) == [b"\x01"]
    assert headers_of(response, "content-length") == []


@pytest.mark.parametrize(
    "name", ["connection", "transfer-encoding", "keep-alive", "server", "date", "set-cookie"]
)
def test_headers_of_one_hop_or_of_the_vendor_are_not_relayed(name: str) -> None:
    response = relayed(OPENAI, FakeResponse(200, [*JSON, (name, "x")]))
    assert headers_of(response, name) == []


def test_the_request_id_of_the_upstream_has_another_name() -> None:
    response = relayed(OPENAI, FakeResponse(200, [*JSON, ("x-request-id", "theirs")]))
    assert headers_of(response, "x-request-id") == []
    assert headers_of(response, "x-upstream-request-id") == ["theirs"]


# Errors of an upstream.


@pytest.mark.parametrize("status", [400, 404, 408, 409, 413, 422, 429, 500, 502, 503, 529])
@pytest.mark.parametrize("name", ERRORS)
def test_an_error_of_the_dialect_is_relayed_unchanged(name: str, status: int) -> None:
    body = json.dumps(ERRORS[name], indent=1).encode()
    more = [("retry-after", "7"), ("x-should-retry", "false")]
    response = relayed(
        dialects.get(name), FakeResponse(status, [*JSON, *more], [body[:5], body[5:]])
    )
    assert (response.status, response.body) == (status, body)
    assert headers_of(response, "content-length") == [str(len(body))]
    assert headers_of(response, "retry-after") == ["7"]
    assert headers_of(response, "x-should-retry") == ["false"]


def test_an_error_in_a_streamed_array_is_an_error_of_gemini() -> None:
    body = json.dumps([ERRORS["gemini"]]).encode()
    assert relayed(GEMINI, FakeResponse(400, JSON, [body])).body == body


@MODELS
@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("text/html", b"<html><p>down</p></html>"),
        ("application/json", b""),
        ("application/json", b"{"),
        ("application/json", b"[]"),
        ("application/json", b'{"error": null}'),
        ("application/problem+json", b'{"status": 502}'),
        ("application/json", b"\xff"),
        ("application/json", b"[" * 5000),
    ],
)
def test_another_error_becomes_one_of_the_dialect(
    dialect: Any, content_type: str, body: bytes
) -> None:
    response = relayed(dialect, FakeResponse(502, [("content-type", content_type)], [body]))
    assert response.status == 502
    assert headers_of(response, "content-type") == ["application/json"]
    assert isinstance(response.body, bytes)
    assert headers_of(response, "content-length") == [str(len(response.body))]
    document = json.loads(response.body)
    assert dialect.is_error(document)
    assert document["error"]["message"] == "The upstream answered 502."
    assert b"<html>" not in response.body


@MODELS
@pytest.mark.parametrize(
    "document",
    [
        *({"message": "too slow."}, {"detail": "too slow"}, {"error": "too slow"}, "too slow"),
        {"errors": "too slow"},
        *({"error": {"msg": "too slow"}}, {"error_msg": "too slow"}, {"msg": "too slow"}),
        {"success": False, "errors": [{"code": 7003, "message": "too slow"}]},
        {"fault": {"faultstring": "too slow", "detail": {"errorcode": "x"}}},
        {"title": "too slow", "status": 503},
    ],
)
def test_the_message_of_another_error_is_quoted(dialect: Any, document: Any) -> None:
    response = relayed(dialect, FakeResponse(503, JSON, [json.dumps(document).encode()]))
    message = json.loads(body_of(response))["error"]["message"]
    assert message == "The upstream answered 503: too slow."


@MODELS
@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"upstream  connect\nerror", "upstream connect error"),
        (b"<html><h1>502 Bad <b>Gateway</b></h1></html>", "502 Bad Gateway"),
        (b"<?xml version='1.0'?><Error><Message>No room &lt;1</Message></Error>", "No room <1"),
        (b"<!doctype html><title>Web server is down &amp; out</title>", "Web server is down & out"),
        (b'[{"error": {"msg": "Unknown name"}}]', "Unknown name"),
        (
            b'{"detail": [{"loc": ["body", "messages", 0], "msg": "Field required"}]}',
            "body.messages.0: Field required",
        ),
    ],
)
def test_the_text_of_an_error_without_a_message_is_quoted(
    dialect: Any, body: bytes, text: str
) -> None:
    response = relayed(dialect, FakeResponse(422, [], [body]))
    message = json.loads(body_of(response))["error"]["message"]
    assert message == f"The upstream answered 422: {text}."


def test_a_long_message_of_another_error_is_cut() -> None:
    body = json.dumps({"message": "x" * 10_000}).encode()
    assert len(body_of(relayed(OPENAI, FakeResponse(500, JSON, [body])))) < 1000


@MODELS
def test_the_encoding_of_a_replaced_body_is_dropped(dialect: Any) -> None:
    headers = [
        ("content-type", "text/html"),
        ("content-encoding", "gzip"),
        ("content-disposition", "attachment"),
        ("content-length", "5"),
        ("retry-after", "3"),
    ]
    response = relayed(dialect, FakeResponse(503, headers, [b"\x1f\x8b"], length=5))
    assert headers_of(response, "content-encoding") == []
    assert headers_of(response, "content-disposition") == []
    assert len(headers_of(response, "content-length")) == 1
    assert headers_of(response, "retry-after") == ["3"]


def test_the_description_of_a_replaced_body_is_dropped() -> None:
    headers = [("content-type", "text/html"), ("etag", '"x"'), ("content-language", "de")]
    response = relayed(OPENAI, FakeResponse(503, headers, [b"<html>"]))
    assert headers_of(response, "etag") == []
    assert headers_of(response, "content-language") == []


def test_a_very_large_error_is_not_read_to_its_end() -> None:
    fake_response = FakeResponse(500, JSON, [b"x" * 60_000] * 100)
    assert json.loads(body_of(relayed(OPENAI, fake_response)))["error"]["message"]
    assert len(fake_response.pieces) > 90


def test_a_truncated_error_becomes_an_error_of_the_dialect() -> None:
    truncation = failure(failures.Truncated, response_started=True)
    response = relayed(OPENAI, FakeResponse(500, JSON, [b'{"error"', truncation]))
    assert response.status == 500
    assert OPENAI.is_error(json.loads(body_of(response)))


def test_errors_of_a_plain_api_are_relayed() -> None:
    response = relayed(PLAIN, FakeResponse(422, JSON, [b'{"title": "Bad"}']))
    assert (response.status, body_of(response)) == (422, b'{"title": "Bad"}')


# Redirects.


@MODELS
@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
def test_a_redirect_is_never_followed(dialect: Any, status: int) -> None:
    error = refusal(dialect, FakeResponse(status, [("location", "http://169.254.169.254/")], []))
    assert (error.status, error.code) == (502, "upstream_error")
    assert "169.254" not in error.message
    assert ("x-should-retry", "false") in error.headers


@pytest.mark.parametrize("status", [301, 304, 401, 403])
def test_redirects_and_401_of_a_plain_api_are_relayed(status: int) -> None:
    assert relayed(PLAIN, FakeResponse(status, [("location", "/x")], [b""])).status == status


# Streams.


@MODELS
def test_a_stream_is_relayed_event_by_event(dialect: Any) -> None:
    events = [b"data: 1\n\n", b'data: {"a":2}\n\n', b'data: {"a":3}\n\n']
    response = relayed(dialect, FakeResponse(200, EVENTS, events))
    assert list(response.body) == events
    assert headers_of(response, "cache-control") == ["no-cache"]
    assert headers_of(response, "x-accel-buffering") == ["no"]
    assert headers_of(response, "content-length") == []


def test_an_event_in_pieces_is_relayed_when_it_is_complete() -> None:
    fake_response = FakeResponse(200, EVENTS, [b"data: {", b'"a":1}', b"\n\ndata: 2\n", b"\n"])
    assert list(relayed(OPENAI, fake_response).body) == [b'data: {"a":1}\n\n', b"data: 2\n\n"]


def test_a_last_event_without_a_blank_line_is_relayed() -> None:
    assert list(relayed(OPENAI, FakeResponse(200, EVENTS, [b"data: 1"])).body) == [b"data: 1\n\n"]


@pytest.mark.parametrize(
    "content_type", ["text/event-stream; charset=utf-8", "Text/Event-Stream", "text/event-stream;"]
)
def test_a_stream_is_recognised_by_its_media_type(content_type: str) -> None:
    fake_response = FakeResponse(200, [("content-type", content_type)], [b"id: 1\ndata: 1\n\n"])
    assert list(relayed(OPENAI, fake_response).body) == [b"data: 1\n\n"]


def test_a_compressed_stream_is_relayed_as_bytes() -> None:
    headers = [*EVENTS, ("content-encoding", "gzip")]
    assert list(relayed(OPENAI, FakeResponse(200, headers, [b"\x1f\x8b"])).body) == [b"\x1f\x8b"]


def test_cache_headers_of_the_gateway_replace_those_of_the_upstream() -> None:
    headers = [*EVENTS, ("cache-control", "max-age=60"), ("x-accel-buffering", "yes")]
    response = relayed(OPENAI, FakeResponse(200, headers, [b"data: 1\n\n"]))
    assert headers_of(response, "cache-control") == ["no-cache"]
    assert headers_of(response, "x-accel-buffering") == ["no"]


# Events sent by the pipeline, where the server can send from the event loop.


def piped(fake_response: FakeResponse, limit: int = 1_000_000) -> tuple[list[bytes], Response]:
    """The events that a pipeline sent, at most `limit` at once, and their response."""
    response, events = relayed(OPENAI, fake_response), list[bytes]()

    def try_send(data: bytes) -> bool:
        events.append(data)
        return len(events) % limit > 0

    assert isinstance(response.body, PushStream)
    response.body.pipeline.try_send = try_send
    return events, response


def test_the_pipeline_sends_all_events_but_the_first_and_the_last() -> None:
    fake_response = FakeResponse(
        200, EVENTS, [b"data: 1\n\n", b"data: {", b"}\n\n", b"data: 3\n\n"]
    )
    events, response = piped(fake_response)
    assert list(response.body) == [b"data: 1\n\n", b"data: 3\n\n"]
    assert events == [b"data: {}\n\n"]


def test_the_server_sends_the_rest_of_an_event_to_a_slow_caller() -> None:
    events = [b"data: %d\n\n" % number for number in range(6)]
    sent_events, response = piped(FakeResponse(200, EVENTS, events), limit=2)
    assert list(response.body) == [events[0], b"", b"", events[5]]
    assert sent_events == events[1:5]


def turns_beside(work: Callable[[], None]) -> int:
    """How often another greenlet runs while this one works."""
    turns = 0

    def count() -> None:
        nonlocal turns
        while True:
            gevent.sleep(0)
            turns += 1

    other = gevent.spawn(count)
    gevent.sleep(0)
    try:
        work()
    finally:
        other.kill()
    return turns


def test_the_loop_turns_between_the_steps_over_a_long_event_and_not_for_a_short_one() -> None:
    def relay_event(size: int) -> None:
        event = b'data: {"choices":[{"delta":{"content":"%b"}}]}\n\n' % (b"x" * size)
        sent = body_of(
            relayed(OPENAI, FakeResponse(200, EVENTS, [event, event, b"data: [DONE]\n\n"]))
        )
        assert sent.count(b"x" * size) == 2

    assert turns_beside(lambda: relay_event(LONG_EVENT)) >= 4
    assert turns_beside(lambda: relay_event(1_000)) <= 1


def test_the_server_sends_a_long_event_in_its_parts() -> None:
    half = b"x" * LONG_EVENT
    events = [b"data: 1\n\n", b"data: " + half, half + b"\n\n", b"data: 3\n\n", b"data: 4\n\n"]
    sent_events, response = piped(FakeResponse(200, EVENTS, events))
    assert b"".join(response.body) == b"".join([*events[:3], events[4]])
    assert sent_events == [events[3]]


def test_an_event_that_is_too_large_for_the_pipeline_breaks_the_stream(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("engine.relay.sse.MAX_EVENT", 1000)
    events, response = piped(FakeResponse(200, EVENTS, [b"data: 1\n\n"] + [b"x" * 400] * 10))
    assert b"upstream_error" in until_cut(response)[1]
    assert not events


def test_a_stream_with_heartbeats_sends_its_events_through_the_pipeline() -> None:
    response, passed = with_heartbeat(OPENAI, FIRST, SECOND, 25.0, FIRST, SECOND), list[bytes]()
    assert isinstance(response.body, PushStream)
    response.body.pipeline.try_send = lambda data: not passed.append(data)  # type: ignore[func-returns-value]
    assert list(response.body) == [FIRST, COMMENT, COMMENT, SECOND]
    assert passed == [SECOND, FIRST]


def test_the_idle_timeout_of_a_stream_with_heartbeats_begins_with_its_last_event() -> None:
    response = with_heartbeat(OPENAI, FIRST, 25.0, SECOND, 1000.0, FIRST)
    assert isinstance(response.body, PushStream)
    response.body.pipeline.try_send = lambda data: True
    *pieces, last = until_cut(response)
    assert pieces == [FIRST, *[COMMENT] * 2, *[COMMENT] * 6]
    assert b"upstream_timeout" in last


def until_cut(response: Response) -> list[bytes]:
    """The parts of a body before its connection is aborted."""
    pieces: list[bytes] = []
    with pytest.raises(AbortConnection):
        pieces.extend(response.body)
    return pieces


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (failures.Truncated, "upstream_error"),
        (failures.Reset, "upstream_error"),
        (failures.IdleTimeout, "upstream_timeout"),
        (failures.TotalTimeout, "upstream_timeout"),
        (failures.ProtocolFailure, "upstream_error"),
    ],
)
@MODELS
def test_a_broken_stream_ends_with_an_error_event_and_an_aborted_connection(
    dialect: Any, kind: Any, code: str
) -> None:
    truncation = failure(kind, request_sent=True, response_started=True)
    fake_response = FakeResponse(200, EVENTS, [b"data: 1\n\n", b"data: {half", truncation])
    first, last = until_cut(relayed(dialect, fake_response))
    assert first == b"data: 1\n\n"
    assert last.startswith(b"event: error\ndata: " if dialect is ANTHROPIC else b"data: ")
    assert last.endswith(b"\n\n")
    document = json.loads(last.partition(b"data: ")[2])
    assert dialect.is_error(document)
    assert code in json.dumps(document)


def test_an_endless_event_breaks_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.relay.sse.MAX_EVENT", 1000)
    fake_response = FakeResponse(200, EVENTS, [b"data: 1\n\n"] + [b"x" * 400] * 10)
    first, last = until_cut(relayed(OPENAI, fake_response))
    assert first == b"data: 1\n\n"
    assert b"upstream_error" in last
    assert len(fake_response.pieces) > 5


@EVERY
def test_a_broken_body_ends_with_an_aborted_connection_alone(dialect: Any) -> None:
    truncation = failure(failures.Truncated, response_started=True)
    fake_response = FakeResponse(200, JSON, [b'{"a":', truncation], length=100)
    assert until_cut(relayed(dialect, fake_response)) == [b'{"a":']


@pytest.mark.parametrize(
    ("media_type", "pieces"),
    [(EVENTS, [b"data: 1\n\n", b"data: {half"]), (JSON, [b'{"a":'])],
    ids=["stream", "body"],
)
def test_responses_that_break_off_open_the_breaker(media_type: Any, pieces: list[bytes]) -> None:
    attempted = target(Client(), breaker=BreakerConfig(failures=2))
    states = []
    for _ in range(2):
        truncation = failure(failures.Truncated, request_sent=True, response_started=True)
        until_cut(relayed(OPENAI, FakeResponse(200, media_type, [*pieces, truncation]), attempted))
        states.append(attempted.state.breaker.state(time.monotonic()))
    assert states == [0, 2]


def test_a_stream_of_a_plain_api_is_relayed_unchanged() -> None:
    pieces = [b"retry: 5\n\nid: 7\nda", b"ta: [DONE]\n\ndata:\n\n"]
    headers = [*EVENTS, ("cache-control", "private")]
    response = relayed(PLAIN, FakeResponse(200, headers, pieces))
    assert list(response.body) == pieces
    assert headers_of(response, "cache-control") == ["private"]


def test_a_broken_stream_of_a_plain_api_ends_with_an_aborted_connection_alone() -> None:
    fake_response = FakeResponse(
        200, EVENTS, [b"data: 1\n\n", failure(failures.Truncated, response_started=True)]
    )
    assert until_cut(relayed(PLAIN, fake_response)) == [b"data: 1\n\n"]


# Heartbeats in a silent stream.

COMMENT = b": keep-alive\n\n"
PING = b'event: ping\ndata: {"type":"ping"}\n\n'
FIRST, SECOND = b"data: 1\n\n", b"data: 2\n\n"


def with_heartbeat(
    dialect: Any, *pieces: Any, beat: float | None = 10.0, idle: float = 60.0
) -> Response:
    silent = target(Client(), heartbeat=beat, timeouts=Timeouts(idle=idle))
    fake_response: Any = FakeResponse(200, EVENTS, pieces)
    result = AttemptResult(
        silent, response=fake_response, content=read_first_content(fake_response, dialect)
    )
    return relay(result, returned_headers(result, dialect), exchange(), dialect, WATCHER)


@pytest.mark.parametrize(
    ("dialect", "heartbeat"),
    [(OPENAI, COMMENT), (ANTHROPIC, PING), (GEMINI, b"")],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_silent_stream_gets_heartbeats_of_its_dialect(dialect: Any, heartbeat: bytes) -> None:
    pieces = b"".join(with_heartbeat(dialect, FIRST, 25.0, SECOND).body)
    assert pieces == FIRST + heartbeat * 2 + SECOND


def test_a_stream_that_is_not_silent_gets_no_heartbeat() -> None:
    assert list(with_heartbeat(OPENAI, FIRST, 9.0, SECOND, 9.0).body) == [FIRST, SECOND]


def test_without_a_heartbeat_nothing_is_sent_during_silence() -> None:
    assert list(with_heartbeat(OPENAI, FIRST, 25.0, SECOND, beat=None).body) == [
        FIRST,
        SECOND,
    ]


def test_a_heartbeat_is_never_sent_within_an_event() -> None:
    pieces = list(with_heartbeat(OPENAI, FIRST, 9.0, b"data: {", 15.0, b"}\n\n").body)
    assert pieces == [FIRST, COMMENT, b"data: {}\n\n"]


def test_heartbeats_end_with_the_idle_timeout() -> None:
    *pieces, last = until_cut(with_heartbeat(OPENAI, FIRST, 1000.0, SECOND))
    assert pieces == [FIRST, *[COMMENT] * 6]
    assert b"upstream_timeout" in last


def test_a_heartbeat_longer_than_the_idle_timeout_does_not_lengthen_it() -> None:
    fake_response: Any = FakeResponse(200, EVENTS, [FIRST, 1000.0])
    result = AttemptResult(
        target(Client(), heartbeat=50.0, timeouts=Timeouts(idle=20.0)),
        response=fake_response,
        content=read_first_content(fake_response, OPENAI),
    )
    until_cut(relay(result, returned_headers(result, OPENAI), exchange(), OPENAI, WATCHER))
    assert fake_response.pieces == [980.0]


class Waiting(FakeResponse):
    """An upstream whose response is not complete at the shutdown of the worker."""

    def read(self, on_data: Any = None, beat: float | None = None) -> bytes:
        if self.pieces:
            return super().read(on_data, beat)
        raise GreenletExit


@MODELS
def test_a_stream_open_at_shutdown_gets_an_error_event(
    dialect: Any,
) -> None:
    content = {
        "openai": FIRST,
        "anthropic": b'event: content_block_delta\ndata: {"type":"content_block_delta"}\n\n',
        "gemini": b'data: {"candidates":[{"content":{"parts":[{"text":"w"}]}}]}\n\n',
    }
    response: Any = Waiting(200, EVENTS, [content[dialect.name]])
    result = AttemptResult(
        target(Client()), response=response, content=read_first_content(response, dialect)
    )
    request = exchange()
    *_, last = until_cut(
        relay(result, returned_headers(result, dialect), request, dialect, WATCHER)
    )
    assert dialect.error_event(b"|").partition(b"|")[0] in last
    assert b"is restarting" in last
    assert request.record.outcome == "shutdown"


def test_a_body_open_at_shutdown_ends_with_an_aborted_connection() -> None:
    response: Any = Waiting(200, [("content-type", "audio/mpeg")], [b"one"])
    result = AttemptResult(
        target(Client()), response=response, content=read_first_content(response, OPENAI)
    )
    request = exchange()
    assert until_cut(relay(result, returned_headers(result, OPENAI), request, OPENAI, WATCHER)) == [
        b"one"
    ]
    assert request.record.outcome == "shutdown"


# Text in a stream that is not an event.

CONTENT = {
    "openai": b'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n',
    "anthropic": b'event: content_block_delta\ndata: {"type":"content_block_delta"}\n\n',
    "gemini": b'data: {"candidates":[{"content":{"parts":[{"text":"hi"}]}}]}\n\n',
}
ENDED = {
    "openai": b'data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n',
    "anthropic": CONTENT["anthropic"] + b'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    "gemini": b'data: {"candidates":[{"content":{"parts":[{"text":"hi"}]},'
    b'"finishReason":"STOP"}]}\n\n',
}
OTHER_TEXT = {
    "JSON": b'{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}',
    "JSON and a blank line": b'{"error":{"code":503,"message":"overloaded"}}\n\n',
    "JSON over lines": b'{\n  "error": {\n    "code": 503,\n    "message": "overloaded"\n  }\n}\n',
    "JSON in an array": b'[{"error":{"code":503,"message":"overloaded"}}]\n',
    "JSON behind a comma": b',\n{"error":{"code":503,"message":"overloaded"}}\r\n]',
    "JSON that is half": b'{"error":{"code":503,"mess',
    "JSON that is no error": b'{"fine":true}',
    "HTML": b"<html>\n<body>502 Bad Gateway</body></html>",
    "words": b"upstream connect error or disconnect/reset before headers",
    "words and a blank line": b"Internal Server Error\n\n",
    "words with a colon": b"error: overloaded\n\n",
    "half an event": b'data: {"choices":[{"del',
    "half an event and a line end": b'data: {"choices":[{"del\n',
    "the name of an event": b"event: content_block_de",
    "a name without data": b"event: content_block_delta\n",
    "half a field": b"dat",
    "a field without a value": b"data:",
    "half of [DONE]": b"data: [DO",
}


def streamed(dialect: Any, *pieces: bytes) -> tuple[bytes, bool]:
    """The bytes that reach the caller of a stream, and whether its connection was aborted."""
    response = relayed(dialect, FakeResponse(200, EVENTS, pieces))
    pieces = []
    try:
        for piece in response.body:  # type: ignore[union-attr]
            assert isinstance(piece, bytes)
            pieces.append(piece)
    except AbortConnection:
        return b"".join(pieces), True
    return b"".join(pieces), False


@MODELS
@pytest.mark.parametrize("kind", OTHER_TEXT)
@pytest.mark.parametrize("split", ["apart", "together", "byte by byte"])
def test_a_stream_that_ends_in_other_text_never_ends_cleanly(
    dialect: Any, kind: str, split: str
) -> None:
    content, other_text = CONTENT[dialect.name], OTHER_TEXT[kind]
    pieces = [content, other_text] if split == "apart" else [content + other_text]
    if split == "byte by byte":
        pieces = [content, *(other_text[at : at + 1] for at in range(len(other_text)))]
    data, cut = streamed(dialect, *pieces)
    assert cut
    assert data.startswith(content)
    event = data[len(content) :]
    assert event.count(b"\n\n") == 1
    document = json.loads(event.partition(b"data: ")[2])
    assert dialect.is_error(document)
    if other_text.strip(b" ,\n\r[]").endswith(b"}}") and "JSON" in kind:
        assert document["error"]["message"] == "overloaded"
        assert document["error"]["code"] == 503


@MODELS
@pytest.mark.parametrize(
    "end",
    [
        b"",
        b"\n",
        b": comment",
        b": comment\n\n",
        b"data: [DONE]",
        b"data: [DONE]\n",
        b"id: 7\n",
        b"retry: 5\n\n",
        b"data:\n\n",
        b"foo: bar\n\ndata: {}\n\n",
        b'data: {"a":\ndata: 1}',
        b"\xef\xbb\xbf\n\n",
        b"event: ping\n\n",
    ],
)
def test_a_stream_with_lines_that_sdks_refuse_ends_cleanly(dialect: Any, end: bytes) -> None:
    data, cut = streamed(dialect, ENDED[dialect.name], end)
    assert not cut
    assert data.startswith(ENDED[dialect.name])


@MODELS
def test_an_unknown_field_in_a_separate_piece_is_dropped(dialect: Any) -> None:
    content = ENDED[dialect.name]
    assert streamed(dialect, content, b"foo: bar\n\n", content) == (content * 2, False)
    assert streamed(dialect, content, b"foo: bar\n\n", b": x\n\n", content, content)[1] is False


@MODELS
def test_events_after_other_text_are_not_relayed(dialect: Any) -> None:
    content = ENDED[dialect.name]
    data, cut = streamed(dialect, content, b"<html>\n\n" + content, content)
    assert cut
    assert data.count(content) == 1
