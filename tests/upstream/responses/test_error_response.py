"""Errors for the caller: those of upstreams, redacted, and the gateway's own for failures."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import Any

import pytest

from engine import dialects
from engine.credentials.interface.fixed import HeaderCredential
from engine.exchange.exchange import Response
from engine.upstream.client import failures
from engine.upstream.forward import Forward
from engine.upstream.requests.route_headers import RouteHeaders
from engine.upstream.responses.error_response import (
    credentials_refused,
    error_code,
    error_of_failure,
    sentence,
    unavailable,
)
from engine.values.errors import AbortConnection
from engine.values.redaction import MARKER
from tests.support.documents import exchange
from tests.support.upstreams import (
    EVENTS,
    JSON,
    SERVICES,
    WATCHER,
    Client,
    FakeResponse,
    failure,
    group,
    target,
)

OPENAI = dialects.get("openai")
KEY = "sk-live-0123456789abcdef"
LEAK = json.dumps({"error": {"message": f"key '{KEY}' is wrong", "type": "t", "code": 404}})


def ask(dialect: str, fake_response: FakeResponse) -> Response:
    failing = target(
        Client(fake_response),
        credentials=[HeaderCredential("header", "authorization", f"Bearer {KEY}")],
    )
    request = exchange(b"{}", path="/v1/x")
    request.mount, request.model.targets, request.model.name = "/v1", [failing], "m"
    return Forward(
        None,
        fixed=group(),
        dialect=dialects.get(dialect),
        headers=RouteHeaders([failing.upstream]),
        services=SERVICES,
        watcher=WATCHER,
    )(request)


def body_of(response: Response) -> bytes:
    if isinstance(response.body, bytes):
        assert ("content-length", str(len(response.body))) in response.headers
        return response.body
    return b"".join(response.body)


def raw_deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-15)
    return compressor.compress(data) + compressor.flush()


PACKED = {
    "": lambda data: data,
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": raw_deflate,
}


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "gemini", "plain"])
@pytest.mark.parametrize("status", [400, 404, 409, 422, 429, 500, 503])
@pytest.mark.parametrize("encoding", PACKED)
def test_a_credential_is_redacted_in_errors(dialect: str, status: int, encoding: str) -> None:
    packed = PACKED[encoding](LEAK.encode())
    headers = [*JSON, ("content-length", str(len(packed)))]
    headers += [("content-encoding", encoding)] if encoding else []
    response = ask(dialect, FakeResponse(status, headers, [packed[:20], packed[20:]], len(packed)))
    assert response.status == status
    body = body_of(response)
    assert "wrong" in json.loads(body)["error"]["message"]
    assert KEY.encode() not in body
    assert MARKER.encode() in body
    assert "content-encoding" not in dict(response.headers)


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "gzip"])
@pytest.mark.parametrize("dialect", ["openai", "anthropic", "gemini", "plain"])
def test_an_error_that_cannot_be_decoded_is_replaced(dialect: str, encoding: str) -> None:
    headers = [*JSON, ("content-encoding", encoding)]
    response = ask(dialect, FakeResponse(400, headers, [b"\0\1" + KEY.encode()]))
    assert response.status == 400
    assert KEY.encode() not in body_of(response)
    assert "answered 400" in json.loads(body_of(response))["error"]["message"]
    assert "content-encoding" not in dict(response.headers)


def test_an_encoded_error_without_a_credential_is_relayed_unchanged() -> None:
    packed = gzip.compress(b'{"problem": 1}')
    headers = [*JSON, ("content-encoding", "gzip"), ("etag", "x")]
    response = ask("plain", FakeResponse(404, headers, [packed], len(packed)))
    assert body_of(response) == packed
    assert {("content-encoding", "gzip"), ("etag", "x")} <= set(response.headers)


@pytest.mark.parametrize("status", [301, 400, 500])
def test_a_redacted_error_of_a_plain_api_has_its_new_length(status: int) -> None:
    page = f"<p>{KEY}</p>".encode()
    headers = [("content-type", "text/html"), ("etag", "x")]
    response = ask("plain", FakeResponse(status, headers, [page], len(page)))
    assert body_of(response) == b"<p>" + MARKER.encode() + b"</p>"
    assert dict(response.headers)["content-type"] == "text/html"
    assert "etag" not in dict(response.headers)


def test_a_large_error_of_a_plain_api_is_relayed() -> None:
    pieces = [b"x" * 100_000] * 15
    response = ask("plain", FakeResponse(500, JSON, [*pieces], 1_500_000))
    assert not isinstance(response.body, bytes)
    assert b"".join(response.body) == b"x" * 1_500_000
    assert dict(response.headers)["content-length"] == "1500000"


EVENT = {
    "openai": b'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n',
    "anthropic": b'event: content_block_delta\ndata: {"type":"content_block_delta"}\n\n',
    "gemini": b'data: {"candidates":[{"content":{"parts":[{"text":"hi"}]}}]}\n\n',
}


@pytest.mark.parametrize("dialect", EVENT)
@pytest.mark.parametrize("before", [True, False])
def test_a_credential_is_redacted_in_error_events(dialect: str, before: bool) -> None:
    error = b"data: " + LEAK.encode() + b"\n\n"
    pieces = [error] if before else [EVENT[dialect], error]
    response: Any = ask(dialect, FakeResponse(200, EVENTS, pieces))
    parts = [response.body] if before else []
    if not before:
        with pytest.raises(AbortConnection):
            parts.extend(response.body)
    body = b"".join(parts)
    assert KEY.encode() not in body
    assert MARKER.encode() in body


@pytest.mark.parametrize("dialect", EVENT)
def test_a_credential_is_redacted_in_json_after_events(dialect: str) -> None:
    response = ask(dialect, FakeResponse(200, EVENTS, [EVENT[dialect] + LEAK.encode()]))
    pieces: list[bytes] = []
    with pytest.raises(AbortConnection):
        pieces.extend(response.body)  # type: ignore[arg-type]
    assert KEY.encode() not in b"".join(pieces)


# The gateway's own errors.


@pytest.mark.parametrize(
    ("kind", "response_started", "status", "code"),
    [
        (failures.ConnectTimeout, False, 504, "upstream_timeout"),
        (failures.IdleTimeout, True, 504, "upstream_timeout"),
        (failures.ConnectFailed, False, 502, "upstream_unreachable"),
        (failures.Reset, False, 502, "upstream_unreachable"),
        (failures.Truncated, True, 502, "upstream_error"),
    ],
)
def test_a_failure_is_a_502_or_a_timeout(
    kind: type[failures.UpstreamFailure], response_started: bool, status: int, code: str
) -> None:
    error = error_of_failure(failure(kind, response_started=response_started))
    assert (error.status, error.code) == (status, code)
    assert error.message == f"{sentence(kind.words)}."


def test_refused_credentials_are_not_for_the_caller_to_retry() -> None:
    error = credentials_refused(" (401)")
    assert (error.status, error.code) == (502, "upstream_credentials")
    assert "credential (401)." in error.message
    assert ("x-should-retry", "false") in error.headers


@pytest.mark.parametrize(
    ("lasting", "status", "header"),
    [(True, 502, ("x-should-retry", "false")), (False, 503, ("retry-after", "1"))],
)
def test_a_token_that_is_missing_is_named_without_its_detail(
    lasting: bool, status: int, header: tuple[str, str]
) -> None:
    missing = failures.NoCredential("the token server answered 500", "key.pem", lasting=lasting)
    error = error_of_failure(missing)
    assert (error.status, error.code) == (status, "upstream_credentials")
    assert header in error.headers
    assert "the token server answered 500." in error.message
    assert "key.pem" not in error.message


@pytest.mark.parametrize(("wait", "seconds"), [(0.0, "1"), (0.2, "1"), (7.1, "8")])
def test_without_a_target_the_caller_gets_a_retry_after(wait: float, seconds: str) -> None:
    error = unavailable(wait)
    assert (error.status, error.headers) == (503, [("retry-after", seconds)])


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("ThrottlingException", "ThrottlingException"),
        ("ThrottlingException:http://internal.amazon.com/coral/", "ThrottlingException"),
        ("com.amazon.coral#ThrottlingException:", "ThrottlingException"),
        ("two words", ""),
        ("", ""),
        ("E" * 101, ""),
    ],
)
def test_the_name_of_an_error_is_in_a_header_of_amazon(value: str, code: str) -> None:
    received: Any = FakeResponse(429, [("x-amzn-errortype", value)])
    assert error_code(received) == code


def test_most_responses_name_no_error() -> None:
    received: Any = FakeResponse(429, JSON)
    assert error_code(received) == ""
