"""Routes for some host names, and responses of the config, as clients get them."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator

import openai
import pytest
from openai import OpenAI

from tests.support.recorded import RecordedGateway, recorded_gateway
from tests.support.recording import PATIENCE, Recorder
from tests.support.running import ALL, TOKENS, shipped

CONFIG = """
version: 1
server: {listen: "{listen}", workers: 1}
specs: {openai: {document: openapi/openai.yaml, dialect: openai}}
upstreams:
  openai:
    url: "${UPSTREAM}/v1"
    dialect: openai
    credential: {bearer: "upstream-credential"}
    proxy: ""
models: {gpt-4o: {to: [{upstream: openai}]}}
routes:
  - {operation: openai.createChatCompletion, model: $request.body#/model}
  - operation: openai.createChatCompletion
    hosts: ["*.closed.test"]
    respond: {status: 503, headers: {retry-after: 600}}
  - operation: openai.createEmbedding
    respond: {status: 308, headers: {location: "https://new.test/v1/embeddings"}}
    auth: none
  - {operation: openai.connectRealtime, respond: {status: 404, body: no sessions here}, auth: none}
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordedGateway]:
    folder = tmp_path_factory.mktemp("hosts") / "p"
    shipped(folder)
    with recorded_gateway(folder, CONFIG + TOKENS) as running:
        yield running


def respond(
    port: int, method: str, path: str, body: bytes = b"", **headers: str
) -> tuple[http.client.HTTPResponse, bytes]:
    """The response to a request, with its body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request(method, path, body or None, headers)
    response = connection.getresponse()
    data = response.read()
    connection.close()
    return response, data


def test_an_sdk_reads_the_error_of_a_closed_host(port: int, upstream: Recorder) -> None:
    headers = {"Host": "eu.closed.test:443"}
    with (
        OpenAI(
            base_url=f"http://127.0.0.1:{port}/v1",
            api_key=ALL,
            default_headers=headers,
            max_retries=2,
        ) as client,
        pytest.raises(openai.InternalServerError) as raised,
    ):
        client.chat.completions.create(
            model="gpt-4o", messages=[{"role": "user", "content": "Hello"}]
        )
    assert raised.value.status_code == 503
    assert raised.value.code == "operation_unavailable"
    assert raised.value.response.headers["retry-after"] == "600"
    assert raised.value.response.headers["x-should-retry"] == "false"
    assert upstream.requests == []


@pytest.mark.parametrize("host", ["closed.test", "a.b.closed.test", "localhost"])
def test_other_hosts_are_served(port: int, upstream: Recorder, host: str) -> None:
    body = json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]})
    headers = {"Host": host, "Authorization": f"Bearer {ALL}", "Content-Type": "application/json"}
    respond(port, "POST", "/v1/chat/completions", body.encode(), **headers)
    assert len(upstream.requests) == 1


def test_a_closed_host_still_asks_for_a_token(port: int) -> None:
    response, _ = respond(port, "POST", "/v1/chat/completions", b"{}", Host="eu.closed.test")
    assert response.status == 401


def test_a_redirect_reads_no_body(port: int) -> None:
    response, data = respond(port, "POST", "/v1/embeddings", b"not json" * 100_000)
    assert (response.status, data) == (308, b"")
    assert response.headers["location"] == "https://new.test/v1/embeddings"


def test_a_handshake_gets_the_response_too(port: int) -> None:
    headers = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    response, data = respond(port, "GET", "/v1/realtime", **headers)
    assert (response.status, data) == (404, b"no sessions here")
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
