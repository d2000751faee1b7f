"""The mock echoes the WebSocket messages of any document, directly and through a gateway."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.support.running import ALL, CREDENTIAL, PATIENCE, TOKENS, Platform, gateway, mock

DOCUMENT = """
openapi: 3.1.0
info: {title: Ticker, version: "1"}
servers: [{url: /feed}]
security: [{token: []}]
components: {securitySchemes: {token: {type: http, scheme: bearer}}}
paths:
  /{symbol}:
    get:
      operationId: follow
      parameters:
        - {name: symbol, in: path, required: true, schema: {type: string, pattern: "^[a-z]+$"}}
        - {name: model, in: query, schema: {type: string}}
      responses: {"101": {description: Prices as they come}}
"""
CONFIG = f"""
version: 1
server: {{listen: "{{listen}}", workers: 1}}
specs: {{ticker: {{document: ticker.yaml}}}}
upstreams: {{ticker: {{url: "${{MOCK}}/feed", credential: {{bearer: {CREDENTIAL}}}, proxy: ""}}}}
routes: [{{operations: "ticker.*", to: [{{upstream: ticker}}]}}]
{TOKENS}
"""
PLACES = pytest.mark.parametrize(("server", "token"), [("mock", CREDENTIAL), ("gateway", ALL)])


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    folder = tmp_path_factory.mktemp("ticker")
    (folder / "ticker.yaml").write_text(DOCUMENT)
    config = folder / "mocked.yaml"
    config.write_text(CONFIG.replace("{listen}", "127.0.0.1:1").replace("${MOCK}", "http://x"))
    with (
        mock(folder, "--config", str(config)) as upstream,
        gateway(folder, CONFIG, {"MOCK": upstream.url}) as front,
    ):
        yield Platform(front, upstream, folder)


def open_session(
    platform: Platform, server: str, token: str, target: str = "abc"
) -> ClientConnection:
    url = f"ws://127.0.0.1:{getattr(platform, server).port}/feed/{target}"
    headers = {"authorization": f"Bearer {token}"}
    return connect(url, additional_headers=headers, subprotocols=["b", "a"], max_size=None)


@PLACES
def test_messages_come_back_as_they_were(platform: Platform, server: str, token: str) -> None:
    messages = ["text \u00e9\U0001f600", b"\x00\xff", "", b"", "x" * 1_000_000, bytes(3_000_000)]
    with open_session(platform, server, token) as socket:
        assert socket.subprotocol == "b"
        for message in messages:
            socket.send(message)
            assert socket.recv(PATIENCE) == message


@PLACES
def test_fragments_come_back_as_one_message(platform: Platform, server: str, token: str) -> None:
    with open_session(platform, server, token) as socket:
        socket.send(iter(["a", "b", "\u00e9"]))
        assert socket.recv(PATIENCE) == "ab\u00e9"


@PLACES
def test_a_close_is_said_with_its_code(platform: Platform, server: str, token: str) -> None:
    with open_session(platform, server, token, "abc?model=fault-code-4002-after-1") as socket:
        socket.send("one")
        assert socket.recv(PATIENCE) == "one"
        with pytest.raises(ConnectionClosed) as excinfo:
            socket.recv(PATIENCE)
    assert excinfo.value.rcvd is not None
    assert excinfo.value.rcvd.code == 4002


@PLACES
def test_a_cut_connection_is_1011_behind_a_gateway(
    platform: Platform, server: str, token: str
) -> None:
    with (
        open_session(platform, server, token, "abc?model=fault-close-after-0") as socket,
        pytest.raises(ConnectionClosed) as excinfo,
    ):
        socket.recv(PATIENCE)
    code = None if excinfo.value.rcvd is None else excinfo.value.rcvd.code
    assert code == {"mock": None, "gateway": 1011}[server]
