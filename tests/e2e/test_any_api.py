"""An API with `to:` an upstream: each method, status and media type is relayed unchanged."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.recorded import RecordedGateway, recorded_gateway
from tests.support.recording import (
    ANSWER,
    Recorder,
    Wire,
    answer,
    ask,
    assert_error,
    request,
)
from tests.support.running import ALL, TOKENS
from tests.support.scripted import CLOSE, Leaving, script

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "query")
OPERATION = """
    {method}:
      operationId: {method}Thing
      {body}
      responses:
        default: {{description: anything, headers: {{Set-Cookie: {{schema: {{type: string}}}}}}}}"""
BODY = 'requestBody: {content: {"*/*": {schema: {}}}}'
DOCUMENT = """
openapi: 3.2.0
info: {title: Things, version: "1"}
servers: [{url: /api}]
paths:
  /things/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]""" + "".join(
    OPERATION.format(
        method=m, body=BODY if m in ("put", "post", "patch", "delete", "query") else ""
    )
    for m in METHODS
)
CONFIG = """
version: 1
server: {listen: "{listen}", workers: 1}
specs: {things: {document: things.yaml}}
upstreams:
  things:
    url: "${UPSTREAM}/base"
    credential: {bearer: ours}
    breaker: {failures: 2, cooldown: 60s}
routes:
  - {operations: things.*, to: [{upstream: things}]}
"""
THING = "/api/things/a%2Fb"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordedGateway]:
    folder = tmp_path_factory.mktemp("any")
    (folder / "things.yaml").write_text(DOCUMENT)
    with recorded_gateway(folder, CONFIG + TOKENS) as running:
        yield running


BYTES = bytes(range(256)) * 300


@pytest.mark.parametrize("media_type", ["application/octet-stream", "text/csv", "image/png"])
@pytest.mark.parametrize("method", ["PUT", "POST", "PATCH", "DELETE"])
def test_method_with_a_body(port: int, upstream: Recorder, method: str, media_type: str) -> None:
    upstream.speak = answer(BYTES, (f"Content-Type: {media_type}",), 200)
    body = BYTES[::-1]
    target = f"{THING}?x=%7e&y"
    response = ask(port, request(target, body, method=method, token=ALL, media_type=media_type))
    assert (response.status, response.body) == (200, BYTES)
    assert response.value("content-type") == media_type
    assert response.value("content-length") == str(len(BYTES))
    received = upstream.last
    assert received.line == f"{method} /base/things/a%2Fb?x=%7e&y HTTP/1.1"
    assert received.body == body
    assert received.values("content-type") == [media_type]
    assert received.values("authorization") == ["Bearer ours"]


@pytest.mark.parametrize("method", ["GET", "DELETE", "OPTIONS"])
def test_method_without_a_body(port: int, upstream: Recorder, method: str) -> None:
    response = ask(port, request(THING, method=method, token=ALL))
    assert (response.status, response.body) == (200, ANSWER)
    assert upstream.last.line == f"{method} /base/things/a%2Fb HTTP/1.1"
    assert upstream.last.body == b""


def test_head_has_the_headers_of_the_answer_alone(port: int, upstream: Recorder) -> None:
    upstream.speak = script(
        b'HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nETag: "x"\r\nContent-Length: 12345\r\n\r\n'
    )
    with Wire(port) as wire:
        for _ in range(2):  # on the same connection: the response to HEAD had no body
            wire.send(request(THING, method="HEAD", token=ALL))
            response = wire.answer("HEAD")
            assert response.status == 200
            assert response.value("content-length") == "12345"
            assert response.value("content-type") == "image/png"
            assert response.value("etag") == '"x"'
    assert upstream.last.line.startswith("HEAD ")


@pytest.mark.parametrize("status", [204, 304])
def test_status_without_a_body(port: int, upstream: Recorder, status: int) -> None:
    upstream.speak = script(b'HTTP/1.1 %d Fine\r\nETag: W/"x"\r\n\r\n' % status)
    with Wire(port) as wire:
        for _ in range(2):
            wire.send(request(THING, token=ALL, headers=['If-None-Match: W/"x"']))
            response = wire.answer()
            assert response.status == status
            assert response.value("etag") == 'W/"x"'
            assert response.values("content-type") == []
            assert response.values("transfer-encoding") == []
    assert upstream.last.values("if-none-match") == ['W/"x"']


PLAIN_STATUSES = [
    *(200, 201, 202, 203, 207, 226, 400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 412, 415),
    *(416, 418, 422, 423, 428, 429, 451, 500, 501, 502, 503, 504, 507, 529, 599),
]


@pytest.mark.parametrize("status", PLAIN_STATUSES)
def test_status_passes_with_its_body(port: int, upstream: Recorder, status: int) -> None:
    body = b"<html>as it is</html>"
    upstream.speak = answer(body, ("Content-Type: text/html", "Retry-After: 3"), status)
    for _ in range(3):
        response = ask(port, request(THING, token=ALL))
        assert (response.status, response.body) == (status, body)
        assert response.value("content-type") == "text/html"
        assert response.value("retry-after") == "3"
        assert response.values("x-should-retry") == []
    assert len(upstream.requests) == 3


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
def test_redirect_is_relayed(port: int, upstream: Recorder, status: int) -> None:
    headers = (f"Location: {upstream.url}/base/things/7?y=1", "Content-Type: text/plain")
    upstream.speak = answer(b"over there", headers, status)
    response = ask(port, request(THING, token=ALL))
    assert (response.status, response.body) == (status, b"over there")
    assert response.value("location") == "/api/things/7?y=1"
    assert len(upstream.requests) == 1


@pytest.mark.parametrize(
    "location", ["https://elsewhere.invalid/x", "/outside", "//elsewhere/base"]
)
def test_redirect_that_leaves_the_upstream_loses_its_address(
    port: int, upstream: Recorder, location: str
) -> None:
    upstream.speak = answer(b"over there", (f"Location: {location}",), 302)
    response = ask(port, request(THING, token=ALL))
    assert (response.status, response.values("location")) == (302, [])


def test_headers_of_several_values(port: int, upstream: Recorder) -> None:
    upstream.speak = answer(
        b"",
        (
            "Set-Cookie: a=1; Path=/; Expires=Wed, 21 Oct 2037 07:28:00 GMT",
            "Set-Cookie: b=2; HttpOnly",
            "Link: </base/1>; rel=next",
            "Link: </base/2>; rel=prev",
            "Vary: Accept",
            "Cache-Control: no-store, private",
            'Content-Disposition: attachment; filename="\u00fc.txt"',
            "X-Own: \u00e9",
        ),
    )
    response = ask(port, request(THING, token=ALL))
    assert response.values("set-cookie") == [
        "a=1; Path=/; Expires=Wed, 21 Oct 2037 07:28:00 GMT",
        "b=2; HttpOnly",
    ]
    assert ", ".join(response.values("link")) == "</api/1>; rel=next, </api/2>; rel=prev"
    assert response.value("vary") == "Accept"
    assert response.value("cache-control") == "no-store, private"
    assert response.value("content-disposition") == 'attachment; filename="\u00fc.txt"'
    assert response.value("x-own") == "\u00e9"
    assert response.values("content-type") == []


def test_range_of_a_binary_file(port: int, upstream: Recorder) -> None:
    headers = ("Content-Type: video/mp4", "Content-Range: bytes 5-9/100", "Accept-Ranges: bytes")
    upstream.speak = answer(BYTES[5:10], headers, 206)
    conditions = ["Range: bytes=5-9", 'If-Range: "v1"']
    response = ask(port, request(THING, token=ALL, headers=conditions))
    assert (response.status, response.body) == (206, BYTES[5:10])
    assert response.value("content-range") == "bytes 5-9/100"
    assert response.value("accept-ranges") == "bytes"
    assert upstream.last.values("range") == ["bytes=5-9"]
    assert upstream.last.values("if-range") == ['"v1"']


def test_conditions_pass(port: int, upstream: Recorder) -> None:
    moment = "Wed, 21 Oct 2015 07:28:00 GMT"
    conditions = [
        f"If-Modified-Since: {moment}",
        f"If-Unmodified-Since: {moment}",
        'If-Match: "a", "b"',
        "Accept: text/csv;q=0.5, */*",
        "Accept-Language: de",
    ]
    assert ask(port, request(THING, token=ALL, headers=conditions)).status == 200
    headers = dict(upstream.last.headers)
    for line in conditions:
        name, _, value = line.partition(": ")
        assert headers[name.lower()] == value


def test_events_pass_with_all_their_lines(port: int, upstream: Recorder) -> None:
    events = b": hello\nretry: 5\n\nid: 7\nevent: x\ndata: 1\ndata: 2\n\ndata:\n\ndata: {"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    upstream.speak = script(head + events, CLOSE)
    response = ask(port, request(THING, token=ALL))
    assert response.body == events
    assert response.value("content-type") == "text/event-stream"


def test_caller_who_leaves_ends_the_upstreams_work(port: int, upstream: Recorder) -> None:
    upstream.speak = leaving = Leaving(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1")
    wire = Wire(port)
    wire.send(request(THING, token=ALL))
    wire.head()
    wire.close()
    assert leaving.is_left()


def test_own_errors_have_the_common_shape(port: int, upstream: Recorder) -> None:
    assert_error(ask(port, request(THING)), 401, "invalid_api_key")
    upstream.speak = script(CLOSE)
    response = ask(port, request("/api/things/x", token=ALL))
    assert_error(response, 502, "upstream_unreachable")
    assert response.value("x-should-retry") == "false"
    response = ask(port, request("/api/things/x", token=ALL))
    assert_error(response, 503, "upstream_unavailable")
