"""Client secrets of realtime sessions, as the vendor's SDKs get and use them."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from openai import OpenAI
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from engine.values.caller import digest
from tests.support.agents import FOLDER
from tests.support.browser import CHROMIUM, Page, browser
from tests.support.realtime import valid
from tests.support.running import ALL, LIMITED, PATIENCE, Platform, Running, gateway, pointed_at
from tests.support.waiting import until

SESSION = {
    "type": "realtime",
    "model": "gpt-realtime",
    "instructions": "Be kind",
    "output_modalities": ["text"],
}
MODULES = FOLDER / "node_modules"
AGENTS = MODULES / "@openai" / "agents-realtime"
needs_npm = pytest.mark.skipif(
    not AGENTS.exists(), reason="@openai/agents-realtime and openai of npm are not installed"
)
STUB = """
import WS from "ws";
globalThis.WebSocket = class extends WS {  // node 20 has none; the SDK always asks for wss:
  constructor(url, protocols) { super(String(url).replace(/^wss:/, "ws:"), protocols); }
};
"""


def issue(url: str, token: str = ALL, **more: Any) -> str:
    with OpenAI(base_url=f"{url}/v1", api_key=token, max_retries=0) as client:
        options = {"session": SESSION, "expires_after": {"anchor": "created_at", "seconds": 60}}
        value: str = client.realtime.client_secrets.create(**options | more).value
    return value


@pytest.fixture(scope="module")
def secret(live: Platform) -> str:
    return issue(live.url)


def test_the_python_sdk_gets_a_secret_and_talks_with_it(live: Platform, secret: str) -> None:
    with (
        OpenAI(base_url=f"{live.url}/v1", api_key=secret, max_retries=0) as client,
        client.realtime.connect(model="gpt-realtime") as connection,
    ):
        events = [json.loads(connection.recv_bytes()) for _ in range(2)]
        assert [valid(event) for event in events] == ["session.created", "session.updated"]
        assert events[1]["session"]["instructions"] == "Be kind"
        part = {"type": "input_text", "text": "one two"}
        connection.conversation.item.create(
            item={"type": "message", "role": "user", "content": [part]}
        )
        connection.response.create()
        for event in connection:
            if event.type == "response.done":
                break
    assert event.response.output[0].content[0].text == "one two"


def test_a_secret_opens_several_sessions_without_naming_the_model(
    live: Platform, secret: str
) -> None:
    for _ in range(2):
        protocols = ["realtime", f"openai-insecure-api-key.{secret}", "openai-agents-sdk.0.20.0"]
        url = f"ws://127.0.0.1:{live.port}/v1/realtime"
        with connect(url, subprotocols=protocols) as socket:  # type: ignore[arg-type]
            assert socket.subprotocol == "realtime"
            assert json.loads(socket.recv())["session"]["model"] == "gpt-realtime"


def refusal(port: int, secret: str, query: str = "") -> tuple[int, str]:
    headers = {"Authorization": f"Bearer {secret}"}
    url = f"ws://127.0.0.1:{port}/v1/realtime{query}"
    with pytest.raises(InvalidStatus) as excinfo, connect(url, additional_headers=headers):
        pass
    error = json.loads(excinfo.value.response.body or b"")["error"]
    assert secret not in error["message"]
    return excinfo.value.response.status_code, error["code"]


def test_a_secret_opens_nothing_else(live: Platform, secret: str) -> None:
    assert refusal(live.port, secret, "?model=renamed") == (403, "model_not_allowed")
    assert refusal(live.port, secret, "?call_id=rtc_1") == (403, "session_not_allowed")
    assert refusal(live.port, secret[:-1]) == (401, "invalid_api_key")
    with OpenAI(base_url=f"{live.url}/v1", api_key=secret, max_retries=0) as client:
        for call in (
            lambda: client.models.list(),
            lambda: client.realtime.client_secrets.create(),
            lambda: client.chat.completions.create(model="gpt-4o", messages=[]),
        ):
            with pytest.raises(Exception, match="opens realtime sessions only"):
                call()


def test_a_token_gets_no_secret_for_what_it_may_not_use(live: Platform) -> None:
    with pytest.raises(Exception, match="may not use the model 'gpt-realtime'"):
        issue(live.url, LIMITED)


@pytest.fixture
def others(live: Platform, tmp_path: Path) -> Iterator[tuple[Running, Running]]:
    """Two more machines with the same project: one without the token, one with another key."""
    folder = live.folder
    config = (folder / "gateway.yaml").read_text().replace(f"127.0.0.1:{live.port}", "{listen}")
    telemetry = f"telemetry: {{listen: '127.0.0.1:{live.gateway.telemetry}'}}\n"
    assert telemetry in config
    config = config.replace(telemetry, "").replace("workers: 2", "workers: 1")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        for part in ("openapi", "schemas"):
            (tmp_path / name / part).symlink_to(folder / part)
    environ = pointed_at(live.mock.url)
    without = config.replace("{name: everything,", "{name: other,").replace(
        digest(ALL), digest("mw-" + "d" * 64)
    )
    with (
        gateway(tmp_path / "one", without, environ) as one,
        gateway(tmp_path / "two", config, environ) as two,
    ):
        yield one, two


def test_other_machines_open_it_unless_the_token_is_gone(
    live: Platform, secret: str, others: tuple[Running, Running]
) -> None:
    without_token, same = others
    assert refusal(without_token.port, secret) == (401, "invalid_api_key")
    headers = {"Authorization": f"Bearer {secret}"}
    with connect(f"ws://127.0.0.1:{same.port}/v1/realtime", additional_headers=headers) as socket:
        assert json.loads(socket.recv())["type"] == "session.created"


def node(script: str, live: Platform, secret: str, folder: Path) -> list[Any]:
    """The lines of JSON that a script prints."""
    file = folder / "script.mjs"
    file.write_text(STUB + script)
    (folder / "node_modules").symlink_to(MODULES)
    environ = {**os.environ, "SECRET": secret, "ADDRESS": f"127.0.0.1:{live.port}"}
    process = subprocess.run(
        ["node", file.name], cwd=folder, env=environ, capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert process.returncode == 0, process.stdout + process.stderr
    return [json.loads(line) for line in process.stdout.splitlines()]


NODE_SDK = """
import OpenAI from "openai";
import { OpenAIRealtimeWebSocket } from "openai/realtime/websocket";
const client = new OpenAI({
  apiKey: process.env.SECRET, baseURL: `http://${process.env.ADDRESS}/v1`,
});
const rt = new OpenAIRealtimeWebSocket({ model: "gpt-realtime" }, client);
rt.socket.addEventListener("open", () => {
  console.log(JSON.stringify({ protocol: rt.socket.protocol }));
  const content = [{ type: "input_text", text: "one two" }];
  rt.send({ type: "conversation.item.create", item: { type: "message", role: "user", content } });
  rt.send({ type: "response.create" });
});
rt.on("error", (error) => { throw error; });
rt.on("response.done", ({ response }) => {
  console.log(JSON.stringify({ text: response.output[0].content[0].text }));
  rt.close();
});
"""


@needs_npm
def test_the_node_sdk_talks_with_it(live: Platform, secret: str, tmp_path: Path) -> None:
    lines = node(NODE_SDK, live, secret, tmp_path)
    assert lines == [{"protocol": "realtime"}, {"text": "one two"}]


AGENT = """
const agent = new RealtimeAgent({ name: "guide", instructions: "Be brief" });
const session = new RealtimeSession(agent, {
  transport: "websocket", model: "gpt-realtime", config: { outputModalities: ["text"] },
});
const text = new Promise((resolve, reject) => {
  session.on("error", ({ error }) => reject(new Error(JSON.stringify(error))));
  session.transport.on("*", ({ type, response }) => {
    if (type === "response.done") resolve(response.output[0].content[0].text);
  });
});
await session.connect({ apiKey: SECRET, url: `ws://${ADDRESS}/v1/realtime?model=gpt-realtime` });
session.sendMessage("one two");
const answer = await text;
session.close();
"""


@needs_npm
def test_an_agent_in_node_talks_with_it(live: Platform, secret: str, tmp_path: Path) -> None:
    script = (
        'import { RealtimeAgent, RealtimeSession } from "@openai/agents-realtime";'
        f"const {{ SECRET, ADDRESS }} = process.env;{AGENT}"
        "console.log(JSON.stringify({ answer })); process.exit(0);"
    )
    assert node(script, live, secret, tmp_path) == [{"answer": "one two"}]


class _Page(BaseHTTPRequestHandler):
    """An empty page, and the files of the agents' SDK for browsers."""

    def do_GET(self) -> None:
        bundle = AGENTS / "dist" / "bundle" / Path(self.path).name
        is_bundle = self.path.endswith(".mjs")
        self.send_response(200)
        self.send_header("content-type", "text/javascript" if is_bundle else "text/html")
        self.end_headers()
        page = b"<!doctype html><title>agent</title>"
        self.wfile.write(bundle.read_bytes() if is_bundle else page)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing."""


@pytest.fixture
def empty_page(tmp_path: Path) -> Iterator[Page]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with browser(tmp_path, f"http://127.0.0.1:{server.server_port}/") as opened:
            yield opened
        server.shutdown()


@needs_npm
@pytest.mark.skipif(not CHROMIUM, reason="no Chromium here; `apt-get install chromium`")
def test_an_agent_in_a_browser_talks_with_it(live: Platform, secret: str, empty_page: Page) -> None:
    address = f"127.0.0.1:{live.port}"
    script = (
        f"(async () => {{ const SECRET = {secret!r}, ADDRESS = {address!r};"
        "const { RealtimeAgent, RealtimeSession } = await import('/openai-realtime-agents.mjs');"
        f"{AGENT} return answer; }})()"
    )
    assert empty_page.run(script) == "one two"


def test_no_secret_is_in_a_log_and_all_are_counted(live: Platform, secret: str) -> None:
    output = live.gateway.output() + live.mock.output()
    assert secret not in output
    assert "ek_" not in output
    # Workers sample their counts once a second.
    until(lambda: _counts(live).get("issued"), "the count of issued secrets")
    assert "accepted" in _counts(live)


def _counts(live: Platform) -> dict[str, float]:
    """The counts of client secrets by their results."""
    with OpenAI(base_url=f"http://127.0.0.1:{live.gateway.telemetry}", api_key="x") as client:
        page = client.get("/metrics", cast_to=str)
    lines = [line for line in page.splitlines() if "client_secrets_total{" in line]
    return {line.split('result="')[1].split('"')[0]: float(line.split()[-1]) for line in lines}
