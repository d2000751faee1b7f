"""Our credentials are removed from the errors of upstreams."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import Any

import pytest

from engine import dialects
from engine.config.upstreams import Credential
from engine.exchange.exchange import Response
from engine.relay.websocket.handshake import UpgradeRequest
from engine.upstream.attempt import attempt
from engine.upstream.forward import Forward
from engine.upstream.websocket_upgrade import Upgrade
from engine.values.errors import AbortConnection
from engine.values.redaction import MARKER
from tests.support.documents import exchange
from tests.support.exchanges import new_exchange
from tests.support.upstreams import EVENTS, JSON, SERVICES, WATCHER, Client, FakeResponse, target

OPENAI = dialects.get("openai")
KEY = "sk-live-0123456789abcdef"
LEAK = json.dumps({"error": {"message": f"key '{KEY}' is wrong", "type": "t", "code": 404}})


def ask(dialect: str, fake_response: FakeResponse) -> Response:
    made = target(
        Client(fake_response), credentials=[Credential("header", "authorization", f"Bearer {KEY}")]
    )
    request = exchange(b"{}", path="/v1/x")
    request.mount, request.targets, request.model = "/v1", [made], "m"
    return Forward(
        None,
        fixed=(),
        dialect=dialects.get(dialect),
        upstreams=[made.upstream],
        services=SERVICES,
        watcher=WATCHER,
    )(request)


def body_of(response: Response) -> bytes:
    if isinstance(response.body, bytes):
        assert ("content-length", str(len(response.body))) in response.headers
        return response.body
    return b"".join(response.body)


def raw_deflate(data: bytes) -> bytes:
    made = zlib.compressobj(wbits=-15)
    return made.compress(data) + made.flush()


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
def test_no_error_holds_our_credential(dialect: str, status: int, encoding: str) -> None:
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
def test_an_error_that_cannot_be_decoded_is_not_passed_on(dialect: str, encoding: str) -> None:
    headers = [*JSON, ("content-encoding", encoding)]
    response = ask(dialect, FakeResponse(400, headers, [b"\0\1" + KEY.encode()]))
    assert response.status == 400
    assert KEY.encode() not in body_of(response)
    assert "answered 400" in json.loads(body_of(response))["error"]["message"]
    assert "content-encoding" not in dict(response.headers)


def test_an_encoded_error_without_a_credential_passes_as_it_came() -> None:
    packed = gzip.compress(b'{"problem": 1}')
    headers = [*JSON, ("content-encoding", "gzip"), ("etag", "x")]
    response = ask("plain", FakeResponse(404, headers, [packed], len(packed)))
    assert body_of(response) == packed
    assert {("content-encoding", "gzip"), ("etag", "x")} <= set(response.headers)


@pytest.mark.parametrize("status", [301, 400, 500])
def test_an_error_of_another_api_with_a_credential_has_the_right_length(status: int) -> None:
    page = f"<p>{KEY}</p>".encode()
    headers = [("content-type", "text/html"), ("etag", "x")]
    response = ask("plain", FakeResponse(status, headers, [page], len(page)))
    assert body_of(response) == b"<p>" + MARKER.encode() + b"</p>"
    assert dict(response.headers)["content-type"] == "text/html"
    assert "etag" not in dict(response.headers)


def test_a_large_error_of_another_api_is_relayed() -> None:
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
def test_no_error_event_holds_our_credential(dialect: str, before: bool) -> None:
    error = b"data: " + LEAK.encode() + b"\n\n"
    pieces = [error] if before else [EVENT[dialect], error]
    response: Any = ask(dialect, FakeResponse(200, EVENTS, pieces))
    body = body_of(response)
    assert KEY.encode() not in body
    assert MARKER.encode() in body


@pytest.mark.parametrize("dialect", EVENT)
def test_bare_json_behind_events_holds_no_credential(dialect: str) -> None:
    response = ask(dialect, FakeResponse(200, EVENTS, [EVENT[dialect] + LEAK.encode()]))
    got: list[bytes] = []
    with pytest.raises(AbortConnection):
        got.extend(response.body)  # type: ignore[arg-type]
    assert KEY.encode() not in b"".join(got)


def test_a_websocket_gets_the_redaction_of_its_upstream() -> None:
    west = target(Client(), credentials=[Credential("header", "authorization", f"Bearer {KEY}")])
    upgrade = Upgrade(UpgradeRequest("key", (), ""), (), compression=False)
    request = new_exchange("GET", "/x", dialect=OPENAI)
    request.upgrade = upgrade
    attempt(west, None, west.upstream.headers(()), None, request, OPENAI, 9.0)
    assert upgrade.redact is not None
    assert upgrade.redact(f"key {KEY}".encode()) == b"key [redacted]"
