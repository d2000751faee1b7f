"""What becomes of an upstream's answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from gevent import GreenletExit

from engine import dialects
from engine.exchange.exchange import Response
from engine.exchange.push_stream import PushStream
from engine.upstream.attempt import AttemptResult
from engine.upstream.client import failures
from engine.upstream.client.client import Timeouts
from engine.upstream.first_content import read_first_content
from engine.upstream.relay_response import relay
from engine.values.errors import AbortConnection, GatewayError
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


def answered(dialect: Any, fake_response: FakeResponse) -> Response:
    """What is relayed, once `attempt` has found nothing to ask again for."""
    given: Any = fake_response
    first_content = read_first_content(given, dialect) if fake_response.status < 400 else None
    result = AttemptResult(target(Client()), response=given, content=first_content)
    return relay(result, returned_headers(result, dialect), exchange(), dialect, WATCHER)


def body_of(response: Response) -> bytes:
    return response.body if isinstance(response.body, bytes) else b"".join(response.body)


def headers_of(response: Response, name: str) -> list[str]:
    return [value for known, value in response.headers if known == name]


def refused(dialect: Any, fake_response: FakeResponse) -> GatewayError:
    with pytest.raises(GatewayError) as caught:
        answered(dialect, fake_response)
    return caught.value


# What is relayed.


@EVERY
def test_what_came_whole_is_passed_on_whole(dialect: Any) -> None:
    response = answered(dialect, FakeResponse(200, JSON, [b'{"a":1}'], length=7, ends=True))
    assert response.body == b'{"a":1}'


def test_of_an_answer_to_head_the_length_is_the_upstreams() -> None:
    given: Any = FakeResponse(200, JSON, [b""], length=7, ends=True)
    asked = exchange(method="HEAD")
    result = AttemptResult(
        target(Client()), response=given, content=read_first_content(given, PLAIN)
    )
    assert headers_of(
        relay(result, returned_headers(result, PLAIN), asked, PLAIN, WATCHER), "content-length"
    ) == ["7"]


@EVERY
@pytest.mark.parametrize("status", [200, 201, 204, 206])
def test_an_answer_passes_as_it_is(dialect: Any, status: int) -> None:
    fake_response = FakeResponse(status, [*JSON, ("etag", "1")], [b'{ "a":', b" 1 }"], length=10)
    response = answered(dialect, fake_response)
    assert (response.status, body_of(response)) == (status, b'{ "a": 1 }')
    assert headers_of(response, "content-type") == ["application/json"]
    assert headers_of(response, "content-length") == ["10"]
    assert headers_of(response, "etag") == ["1"]


def test_pieces_pass_as_they_arrive() -> None:
    fake_response = FakeResponse(200, [("content-type", "audio/mpeg")], [b"\xff\x00", b"\x01"])
    response = answered(OPENAI, fake_response)
    assert not isinstance(response.body, bytes)
    pieces = iter(response.body)
    assert next(pieces) == b"\xff\x00"
    assert fake_response.pieces == [b"\x01"]
    assert list(pieces) == [b"\x01"]
    assert headers_of(response, "content-length") == []


@pytest.mark.parametrize(
    "name", ["connection", "transfer-encoding", "keep-alive", "server", "date", "set-cookie"]
)
def test_headers_of_one_hop_or_of_the_vendor_stay_here(name: str) -> None:
    response = answered(OPENAI, FakeResponse(200, [*JSON, (name, "x")]))
    assert headers_of(response, name) == []


def test_the_upstreams_request_id_passes_under_another_name() -> None:
    response = answered(OPENAI, FakeResponse(200, [*JSON, ("x-request-id", "theirs")]))
    assert headers_of(response, "x-request-id") == []
    assert headers_of(response, "x-upstream-request-id") == ["theirs"]


# Errors of an upstream.


@pytest.mark.parametrize("status", [400, 404, 408, 409, 413, 422, 429, 500, 502, 503, 529])
@pytest.mark.parametrize("name", ERRORS)
def test_an_error_of_the_dialect_passes_as_it_is(name: str, status: int) -> None:
    body = json.dumps(ERRORS[name], indent=1).encode()
    more = [("retry-after", "7"), ("x-should-retry", "false")]
    response = answered(
        dialects.get(name), FakeResponse(status, [*JSON, *more], [body[:5], body[5:]])
    )
    assert (response.status, response.body) == (status, body)
    assert headers_of(response, "content-length") == [str(len(body))]
    assert headers_of(response, "retry-after") == ["7"]
    assert headers_of(response, "x-should-retry") == ["false"]


def test_an_error_in_a_streamed_array_is_one_of_gemini() -> None:
    body = json.dumps([ERRORS["gemini"]]).encode()
    assert answered(GEMINI, FakeResponse(400, JSON, [body])).body == body


@MODELS
@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("text/html", b"<html><h1>502 Bad Gateway</h1></html>"),
        ("text/plain", b"upstream connect error"),
        ("application/json", b""),
        ("application/json", b"{"),
        ("application/json", b'"text"'),
        ("application/json", b"[]"),
        ("application/json", b'{"error": null}'),
        ("application/problem+json", b'{"title": "Bad", "status": 502}'),
        ("application/json", b"\xff"),
        ("application/json", b"[" * 5000),
    ],
)
def test_another_error_becomes_one_of_the_dialect(
    dialect: Any, content_type: str, body: bytes
) -> None:
    response = answered(dialect, FakeResponse(502, [("content-type", content_type)], [body]))
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
    [{"message": "too slow."}, {"detail": "too slow"}, {"error": "too slow"}],
)
def test_the_words_of_another_error_are_kept(dialect: Any, document: Any) -> None:
    response = answered(dialect, FakeResponse(503, JSON, [json.dumps(document).encode()]))
    said = json.loads(body_of(response))["error"]["message"]
    assert said == "The upstream answered 503: too slow."


def test_the_words_of_another_error_are_cut() -> None:
    body = json.dumps({"message": "x" * 10_000}).encode()
    assert len(body_of(answered(OPENAI, FakeResponse(500, JSON, [body])))) < 1000


@MODELS
def test_what_belonged_to_another_body_is_not_said_of_ours(dialect: Any) -> None:
    headers = [
        ("content-type", "text/html"),
        ("content-encoding", "gzip"),
        ("content-disposition", "attachment"),
        ("content-length", "5"),
        ("retry-after", "3"),
    ]
    response = answered(dialect, FakeResponse(503, headers, [b"\x1f\x8b"], length=5))
    assert headers_of(response, "content-encoding") == []
    assert headers_of(response, "content-disposition") == []
    assert len(headers_of(response, "content-length")) == 1
    assert headers_of(response, "retry-after") == ["3"]


def test_what_describes_another_body_is_not_said_of_ours() -> None:
    headers = [("content-type", "text/html"), ("etag", '"x"'), ("content-language", "de")]
    response = answered(OPENAI, FakeResponse(503, headers, [b"<html>"]))
    assert headers_of(response, "etag") == []
    assert headers_of(response, "content-language") == []


def test_a_huge_error_is_not_read_to_its_end() -> None:
    fake_response = FakeResponse(500, JSON, [b"x" * 60_000] * 100)
    assert json.loads(body_of(answered(OPENAI, fake_response)))["error"]["message"]
    assert len(fake_response.pieces) > 90


def test_an_error_that_breaks_off_is_an_error_all_the_same() -> None:
    broken = failure(failures.Truncated, response_started=True)
    response = answered(OPENAI, FakeResponse(500, JSON, [b'{"error"', broken]))
    assert response.status == 500
    assert OPENAI.is_error(json.loads(body_of(response)))


def test_a_plain_api_keeps_its_own_errors() -> None:
    response = answered(PLAIN, FakeResponse(422, JSON, [b'{"title": "Bad"}']))
    assert (response.status, body_of(response)) == (422, b'{"title": "Bad"}')


# What cannot be the caller's.


@MODELS
@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
def test_a_redirect_is_never_followed(dialect: Any, status: int) -> None:
    error = refused(dialect, FakeResponse(status, [("location", "http://169.254.169.254/")], []))
    assert (error.status, error.code) == (502, "upstream_error")
    assert "169.254" not in error.message
    assert ("x-should-retry", "false") in error.headers


@pytest.mark.parametrize("status", [301, 304, 401, 403])
def test_a_plain_api_keeps_these_for_its_callers(status: int) -> None:
    assert answered(PLAIN, FakeResponse(status, [("location", "/x")], [b""])).status == status


# Streams.


@MODELS
def test_a_stream_passes_event_by_event(dialect: Any) -> None:
    events = [b"data: 1\n\n", b'data: {"a":2}\n\n', b'data: {"a":3}\n\n']
    response = answered(dialect, FakeResponse(200, EVENTS, events))
    assert list(response.body) == events
    assert headers_of(response, "cache-control") == ["no-cache"]
    assert headers_of(response, "x-accel-buffering") == ["no"]
    assert headers_of(response, "content-length") == []


def test_an_event_in_pieces_is_passed_when_it_is_whole() -> None:
    fake_response = FakeResponse(200, EVENTS, [b"data: {", b'"a":1}', b"\n\ndata: 2\n", b"\n"])
    assert list(answered(OPENAI, fake_response).body) == [b'data: {"a":1}\n\n', b"data: 2\n\n"]


def test_what_a_stream_still_held_at_its_end_is_passed() -> None:
    assert list(answered(OPENAI, FakeResponse(200, EVENTS, [b"data: 1"])).body) == [b"data: 1\n\n"]


@pytest.mark.parametrize(
    "content_type", ["text/event-stream; charset=utf-8", "Text/Event-Stream", "text/event-stream;"]
)
def test_a_stream_is_known_by_its_media_type(content_type: str) -> None:
    fake_response = FakeResponse(200, [("content-type", content_type)], [b"id: 1\ndata: 1\n\n"])
    assert list(answered(OPENAI, fake_response).body) == [b"data: 1\n\n"]


def test_a_compressed_stream_is_not_looked_into() -> None:
    headers = [*EVENTS, ("content-encoding", "gzip")]
    assert list(answered(OPENAI, FakeResponse(200, headers, [b"\x1f\x8b"])).body) == [b"\x1f\x8b"]


def test_our_own_cache_rule_replaces_that_of_the_upstream() -> None:
    headers = [*EVENTS, ("cache-control", "max-age=60"), ("x-accel-buffering", "yes")]
    response = answered(OPENAI, FakeResponse(200, headers, [b"data: 1\n\n"]))
    assert headers_of(response, "cache-control") == ["no-cache"]
    assert headers_of(response, "x-accel-buffering") == ["no"]


# Where the sender offers a way, events take it.


def passing(fake_response: FakeResponse, takes: int = 1_000_000) -> tuple[list[bytes], Response]:
    """A stream whose caller takes at most so many events at once, and what those were."""
    response, taken = answered(OPENAI, fake_response), list[bytes]()

    def try_send(data: bytes) -> bool:
        taken.append(data)
        return len(taken) % takes > 0

    assert isinstance(response.body, PushStream)
    response.body.pipeline.try_send = try_send
    return taken, response


def test_events_are_passed_on_and_only_the_first_and_the_last_are_given() -> None:
    fake_response = FakeResponse(
        200, EVENTS, [b"data: 1\n\n", b"data: {", b"}\n\n", b"data: 3\n\n"]
    )
    taken, response = passing(fake_response)
    assert list(response.body) == [b"data: 1\n\n", b"data: 3\n\n"]
    assert taken == [b"data: {}\n\n"]


def test_a_caller_who_does_not_take_all_is_waited_for_by_who_sends() -> None:
    events = [b"data: %d\n\n" % number for number in range(6)]
    taken, response = passing(FakeResponse(200, EVENTS, events), takes=2)
    assert list(response.body) == [events[0], b"", b"", events[5]]
    assert taken == events[1:5]


def test_an_event_too_large_breaks_the_stream_also_where_it_is_passed_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("engine.relay.sse.MAX_EVENT", 1000)
    taken, response = passing(FakeResponse(200, EVENTS, [b"data: 1\n\n"] + [b"x" * 400] * 10))
    assert b"upstream_error" in until_cut(response)[1]
    assert not taken


def test_a_stream_with_a_heartbeat_is_given_event_by_event() -> None:
    response = beating(OPENAI, FIRST, SECOND, FIRST)
    assert isinstance(response.body, PushStream)
    response.body.pipeline.try_send = lambda data: True
    assert list(response.body) == [FIRST, SECOND, FIRST]


def until_cut(response: Response) -> list[bytes]:
    """What a body gave before it was cut."""
    got: list[bytes] = []
    with pytest.raises(AbortConnection):
        got.extend(response.body)
    return got


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
def test_a_stream_that_breaks_ends_with_the_dialects_error_and_a_cut(
    dialect: Any, kind: Any, code: str
) -> None:
    broken = failure(kind, request_sent=True, response_started=True)
    fake_response = FakeResponse(200, EVENTS, [b"data: 1\n\n", b"data: {half", broken])
    first, last = until_cut(answered(dialect, fake_response))
    assert first == b"data: 1\n\n"
    assert last.startswith(b"event: error\ndata: " if dialect is ANTHROPIC else b"data: ")
    assert last.endswith(b"\n\n")
    document = json.loads(last.partition(b"data: ")[2])
    assert dialect.is_error(document)
    assert code in json.dumps(document)


def test_an_event_without_an_end_breaks_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.relay.sse.MAX_EVENT", 1000)
    fake_response = FakeResponse(200, EVENTS, [b"data: 1\n\n"] + [b"x" * 400] * 10)
    first, last = until_cut(answered(OPENAI, fake_response))
    assert first == b"data: 1\n\n"
    assert b"upstream_error" in last
    assert len(fake_response.pieces) > 5


@EVERY
def test_a_body_that_breaks_is_cut_with_nothing_added(dialect: Any) -> None:
    broken = failure(failures.Truncated, response_started=True)
    fake_response = FakeResponse(200, JSON, [b'{"a":', broken], length=100)
    assert until_cut(answered(dialect, fake_response)) == [b'{"a":']


def test_a_plain_api_keeps_its_streams_as_they_are() -> None:
    pieces = [b"retry: 5\n\nid: 7\nda", b"ta: [DONE]\n\ndata:\n\n"]
    headers = [*EVENTS, ("cache-control", "private")]
    response = answered(PLAIN, FakeResponse(200, headers, pieces))
    assert list(response.body) == pieces
    assert headers_of(response, "cache-control") == ["private"]


def test_a_plain_stream_that_breaks_is_cut_with_nothing_added() -> None:
    fake_response = FakeResponse(
        200, EVENTS, [b"data: 1\n\n", failure(failures.Truncated, response_started=True)]
    )
    assert until_cut(answered(PLAIN, fake_response)) == [b"data: 1\n\n"]


# Signs of life in a stream that is silent.

COMMENT = b": keep-alive\n\n"
PING = b'event: ping\ndata: {"type":"ping"}\n\n'
FIRST, SECOND = b"data: 1\n\n", b"data: 2\n\n"


def beating(dialect: Any, *pieces: Any, beat: float | None = 10.0, idle: float = 60.0) -> Response:
    made = target(Client(), heartbeat=beat, timeouts=Timeouts(idle=idle))
    fake_response: Any = FakeResponse(200, EVENTS, pieces)
    result = AttemptResult(
        made, response=fake_response, content=read_first_content(fake_response, dialect)
    )
    return relay(result, returned_headers(result, dialect), exchange(), dialect, WATCHER)


@pytest.mark.parametrize(
    ("dialect", "sign"),
    [(OPENAI, COMMENT), (ANTHROPIC, PING), (GEMINI, b"")],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_silent_stream_gets_signs_of_life_as_its_dialect_takes_them(
    dialect: Any, sign: bytes
) -> None:
    got = b"".join(beating(dialect, FIRST, 25.0, SECOND).body)
    assert got == FIRST + sign * 2 + SECOND


def test_a_stream_that_speaks_in_time_gets_none() -> None:
    assert list(beating(OPENAI, FIRST, 9.0, SECOND, 9.0).body) == [FIRST, SECOND]


def test_without_a_heartbeat_silence_stays_silence() -> None:
    assert list(beating(OPENAI, FIRST, 25.0, SECOND, beat=None).body) == [FIRST, SECOND]


def test_a_sign_of_life_never_falls_into_an_event() -> None:
    got = list(beating(OPENAI, FIRST, 9.0, b"data: {", 15.0, b"}\n\n").body)
    assert got == [FIRST, COMMENT, b"data: {}\n\n"]


def test_signs_of_life_do_not_outlast_the_idle_timeout() -> None:
    *got, last = until_cut(beating(OPENAI, FIRST, 1000.0, SECOND))
    assert got == [FIRST, *[COMMENT] * 6]
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
    """An upstream whose answer is not over when the worker ends."""

    def read(self, passing: Any = None) -> bytes:
        if self.pieces:
            return super().read(passing)
        raise GreenletExit


@MODELS
def test_a_stream_that_outlives_its_worker_gets_an_error_event_and_a_cut(dialect: Any) -> None:
    content = {
        "openai": FIRST,
        "anthropic": b'event: content_block_delta\ndata: {"type":"content_block_delta"}\n\n',
        "gemini": b'data: {"candidates":[{"content":{"parts":[{"text":"w"}]}}]}\n\n',
    }
    given: Any = Waiting(200, EVENTS, [content[dialect.name]])
    result = AttemptResult(
        target(Client()), response=given, content=read_first_content(given, dialect)
    )
    one = exchange()
    *_, last = until_cut(relay(result, returned_headers(result, dialect), one, dialect, WATCHER))
    assert dialect.error_event(b"|").partition(b"|")[0] in last
    assert b"is restarting" in last
    assert one.record.outcome == "shutdown"


def test_bytes_that_outlive_their_worker_are_cut() -> None:
    given: Any = Waiting(200, [("content-type", "audio/mpeg")], [b"one"])
    result = AttemptResult(
        target(Client()), response=given, content=read_first_content(given, OPENAI)
    )
    one = exchange()
    assert until_cut(relay(result, returned_headers(result, OPENAI), one, OPENAI, WATCHER)) == [
        b"one"
    ]
    assert one.record.outcome == "shutdown"


# Text in a stream that is not an event.

CONTENT = {
    "openai": b'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n',
    "anthropic": b'event: content_block_delta\ndata: {"type":"content_block_delta"}\n\n',
    "gemini": b'data: {"candidates":[{"content":{"parts":[{"text":"hi"}]}}]}\n\n',
}
FOREIGN = {
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
    """What reaches the caller of a stream, and whether it was cut."""
    response = answered(dialect, FakeResponse(200, EVENTS, pieces))
    got = []
    try:
        for piece in response.body:  # type: ignore[union-attr]
            assert isinstance(piece, bytes)
            got.append(piece)
    except AbortConnection:
        return b"".join(got), True
    return b"".join(got), False


@MODELS
@pytest.mark.parametrize("kind", FOREIGN)
@pytest.mark.parametrize("split", ["apart", "together", "byte by byte"])
def test_a_stream_that_ends_in_something_else_never_ends_cleanly(
    dialect: Any, kind: str, split: str
) -> None:
    content, foreign = CONTENT[dialect.name], FOREIGN[kind]
    pieces = [content, foreign] if split == "apart" else [content + foreign]
    if split == "byte by byte":
        pieces = [content, *(foreign[at : at + 1] for at in range(len(foreign)))]
    got, cut = streamed(dialect, *pieces)
    assert cut
    assert got.startswith(content)
    event = got[len(content) :]
    assert event.count(b"\n\n") == 1
    document = json.loads(event.partition(b"data: ")[2])
    assert dialect.is_error(document)
    if foreign.strip(b" ,\n\r[]").endswith(b"}}") and "JSON" in kind:
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
def test_a_stream_with_what_sdks_do_not_take_ends_cleanly(dialect: Any, end: bytes) -> None:
    got, cut = streamed(dialect, CONTENT[dialect.name], end)
    assert not cut
    assert got.startswith(CONTENT[dialect.name])


@MODELS
def test_an_unknown_field_before_an_event_of_its_own_piece_is_dropped(dialect: Any) -> None:
    content = CONTENT[dialect.name]
    assert streamed(dialect, content, b"foo: bar\n\n", content) == (content * 2, False)
    assert streamed(dialect, content, b"foo: bar\n\n", b": x\n\n", content, content)[1] is False


@MODELS
def test_nothing_behind_foreign_text_is_passed_on(dialect: Any) -> None:
    content = CONTENT[dialect.name]
    got, cut = streamed(dialect, content, b"<html>\n\n" + content, content)
    assert cut
    assert got.count(content) == 1
