"""Realtime sessions of a browser, with the token in a subprotocol: it cannot set headers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.support.browser import CHROMIUM, Page, browser
from tests.support.realtime import valid
from tests.support.running import ALL, LIMITED, Platform

pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="no Chromium here; `apt-get install chromium` brings one"
)

MESSAGE = 'hello brave "new" world: \u00e9\u4e16\U0001f600'

SESSION = """
new Promise((resolve) => {
  const [url, protocols, messages, last] = %s;
  const socket = new WebSocket(url, protocols);
  const events = [];
  let protocol = null;
  socket.onopen = () => {
    protocol = socket.protocol;
    messages.forEach((message) => socket.send(JSON.stringify(message)));
  };
  socket.onmessage = (message) => {
    events.push(JSON.parse(message.data));
    if (events.at(-1).type === last) socket.close(1000, "enough");
  };
  socket.onclose = ({code, reason, wasClean}) => {
    resolve({protocol, events, code, reason, wasClean});
  };
})
"""


class _Page(BaseHTTPRequestHandler):
    """An empty page of another origin than the gateway's."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>live</title>")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing."""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        with browser(tmp_path_factory.mktemp("browser"), url) as opened:
            yield opened
        server.shutdown()


def session(
    page: Page,
    live: Platform,
    protocols: list[str],
    messages: list[dict[str, Any]],
    last: str,
    model: str = "gpt-realtime",
) -> dict[str, Any]:
    """Open a socket from the page, send the messages, close it after the last event."""
    url = f"ws://127.0.0.1:{live.port}/v1/realtime?model={model}"
    result: dict[str, Any] = page.run(SESSION % json.dumps([url, protocols, messages, last]))
    return result


def turn(text: str, response: dict[str, Any]) -> list[dict[str, Any]]:
    item = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": text}],
    }
    return [
        {"type": "conversation.item.create", "item": item},
        {"type": "response.create", "response": response},
    ]


TEXT = turn(MESSAGE, {"output_modalities": ["text"]})


def test_a_text_turn(page: Page, live: Platform) -> None:
    protocols = ["realtime", f"openai-insecure-api-key.{ALL}"]
    result = session(page, live, protocols, TEXT, "response.done")
    assert result["protocol"] == "realtime"
    assert (result["code"], result["wasClean"]) == (1000, True)
    kinds = [valid(event) for event in result["events"]]
    assert (kinds[0], kinds[-1]) == ("session.created", "response.done")
    words = [e["delta"] for e in result["events"] if e["type"] == "response.output_text.delta"]
    assert "".join(words) == MESSAGE
    assert len(words) == len(MESSAGE.split())


def test_the_key_may_come_first_and_others_may_come_along(page: Page, live: Platform) -> None:
    protocols = [
        *(f"openai-insecure-api-key.{ALL}", "realtime"),
        *("openai-organization.org_1", "openai-project.proj_1"),
    ]
    result = session(page, live, protocols, TEXT, "response.done")
    assert (result["protocol"], result["code"]) == ("realtime", 1000)


def test_an_interruption_in_the_middle(page: Page, live: Platform) -> None:
    protocols = ["realtime", f"openai-insecure-api-key.{ALL}"]
    long = turn(" ".join(f"word{n}" for n in range(400)), {"output_modalities": ["text"]})
    messages = [*long, {"type": "response.cancel"}]
    result = session(page, live, protocols, messages, "response.done")
    assert result["events"][-1]["response"]["status"] == "cancelled"


def test_the_upstreams_close_arrives_as_it_was(page: Page, live: Platform) -> None:
    protocols = ["realtime", f"openai-insecure-api-key.{ALL}"]
    result = session(page, live, protocols, [], "", "fault-code-4001-after-1")
    assert [event["type"] for event in result["events"]] == ["session.created"]
    assert (result["code"], result["reason"]) == (4001, "The mock was asked for 4001.")


@pytest.mark.parametrize(
    "protocols",
    [
        pytest.param(["realtime"], id="none"),
        pytest.param(["realtime", "openai-insecure-api-key.mw-nobody"], id="unknown"),
        pytest.param(["realtime", f"openai-insecure-api-key.{LIMITED}"], id="another-model"),
    ],
)
def test_without_a_token_for_the_model_no_socket_opens(
    page: Page, live: Platform, protocols: list[str]
) -> None:
    result = session(page, live, protocols, TEXT, "response.done")
    assert (result["protocol"], result["events"], result["code"]) == (None, [], 1006)


def test_no_token_is_in_a_log(page: Page, live: Platform) -> None:
    protocols = ["realtime", f"openai-insecure-api-key.{ALL}"]
    session(page, live, protocols, TEXT, "response.done")
    session(page, live, protocols, [], "", "fault-close-after-1")
    assert ALL not in live.gateway.output() + live.mock.output()
