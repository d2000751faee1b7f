"""MCP clients of others list and call tools through a gateway: SDKs, the inspector, and the
official conformance suite."""

from __future__ import annotations

import json
import re
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.agents import FOLDER, PROGRAMS, missing_node
from tests.support.mcp_programs import CASES, post, run, scrape
from tests.support.recording import ReceivedRequest, Recorder, answer, recorder
from tests.support.running import ALL, LIMITED, TOKENS, Running, gateway
from tests.support.thorough import some
from tests.support.waiting import PATIENCE, until

CONFIG = f"""version: 1
server: {{listen: "{{listen}}", workers: 1, heavy: {{processes: 1, above: 100KB}}}}
specs:
  shop: {{document: shop.yaml}}
  suite: {{document: suite.yaml}}
upstreams: {{main: {{url: "URL", proxy: ""}}}}
telemetry: {{access_log: {{path: access.log}}}}
mcp:
  shop: {{path: /mcp/shop, operations: [shop.*]}}
  suite: {{path: /mcp, operations: [suite.*]}}
routes:
  - {{operation: "shop.*", to: [{{upstream: main}}]}}
  - {{operation: "suite.*", to: [{{upstream: main}}], auth: none}}
{TOKENS}"""
SHOP = """openapi: 3.1.0
info: {title: Shop, version: "1"}
security: [{bearer: []}]
paths:
  /items/{id}:
    get:
      operationId: show
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {"200": {description: ok}}
  /items:
    post:
      operationId: create
      requestBody:
        required: true
        content: {application/json: {schema: {type: object, required: [name]}}}
      responses: {"200": {description: ok}}
  /slow: {get: {operationId: slow, responses: {"200": {description: ok}}}}
  /stream: {get: {operationId: stream, responses: {"200": {description: ok}}}}
components: {securitySchemes: {bearer: {type: http, scheme: bearer}}}
"""
SUITE = {
    "test_simple_text": (b"This is a simple text response for testing.", "text/plain", 200),
    "test_error_handling": (b"This tool intentionally returns an error", "text/plain", 500),
    "test_image_content": (b"\x89PNG\r\n", "image/png", 200),
    "test_audio_content": (b"RIFF", "audio/wav", 200),
    "test_embedded_resource": (b"\x00\x01", "application/pdf", 200),
}
"""The operations whose names the conformance suite calls, with what they answer."""

PASSED = {
    "2026-07-28": [
        *("tools-list", "tools-call-simple-text", "tools-call-error", "tools-call-image"),
        *("tools-call-audio", "tools-call-embedded-resource", "server-sse-multiple-streams"),
        *("dns-rebinding-protection", "http-header-validation"),
    ],
    "2025-11-25": [
        *("server-initialize", "ping", "tools-list", "tools-call-simple-text"),
        *("tools-call-error", "tools-call-image", "tools-call-audio"),
        *("tools-call-embedded-resource", "dns-rebinding-protection"),
    ],
}
"""The scenarios that apply; docs/internals/mcp.md says why others do not."""

_NODE = 22


def suite_document() -> str:
    paths = {
        f"/suite/{name}": {
            "get": {"operationId": name, "responses": {"200": {"description": "ok"}}}
        }
        for name in SUITE
    }
    info = {"title": "Suite", "version": "1"}
    return json.dumps({"openapi": "3.1.0", "info": info, "paths": paths})


STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


class Shop:
    """The upstream: `left` are the slow requests that were left; a stream `goes_on` when an item is
    asked for that is called `go`."""

    def __init__(self) -> None:
        self.left = 0
        self.goes_on = threading.Event()

    def __call__(self, received: ReceivedRequest, sock: Any) -> None:
        name = received.target.rpartition("/")[2]
        if name in SUITE:
            body, media_type, status = SUITE[name]
            answer(body, [f"Content-Type: {media_type}"], status)(received, sock)
        elif name == "stream":
            sock.sendall(STREAM + b"data: one\n\n")
            assert self.goes_on.wait(PATIENCE)
            sock.sendall(b"data: two\n\ndata: [DONE]\n\n")
            sock.shutdown(socket.SHUT_RDWR)
        elif name == "slow":
            sock.settimeout(PATIENCE)
            self.left += not sock.recv(1)
        else:
            if name == "go":
                self.goes_on.set()
            size = len(received.body)
            answer(json.dumps({"target": received.target, "size": size}).encode())(received, sock)


@pytest.fixture(scope="module")
def shop() -> Shop:
    return Shop()


@pytest.fixture(scope="module")
def front(
    tmp_path_factory: pytest.TempPathFactory, shop: Shop
) -> Iterator[tuple[Running, Recorder, Path]]:
    folder = tmp_path_factory.mktemp("mcp")
    (folder / "shop.yaml").write_text(SHOP)
    (folder / "suite.yaml").write_text(suite_document())
    with recorder() as upstream:
        upstream.speak = shop
        with gateway(folder, CONFIG.replace("URL", upstream.url)) as running:
            yield running, upstream, folder


def node() -> str:
    """A node that the suite accepts."""
    reason = missing_node(_NODE)
    if reason:
        pytest.skip(reason)
    return "node"


def needs(name: str, installer: str = ".ci/run") -> Path:
    place = FOLDER / "node_modules" / "@modelcontextprotocol" / name
    if not place.exists():
        pytest.skip(f"no @modelcontextprotocol/{name} in {FOLDER}; `{installer}` installs it")
    return place


def messages(folder: Path, client: str) -> list[dict[str, str]]:
    """What the log says of the messages of a client; nothing before the first request."""
    log = folder / "access.log"
    lines = log.read_text().splitlines() if log.exists() else []
    rows = [row["mcp"] for row in map(json.loads, lines) if row.get("via") == "mcp"]
    return [row for row in rows if row.get("client", "").startswith(client)]


def check(output: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(output.splitlines()[-1])
    assert found["tools"] == ["create", "show", "slow", "stream"]
    assert found["structured"] == {"target": "/items/7", "size": 0}
    assert found["refused"][0] is True
    assert found["refused"][1].startswith("id: ")
    assert "Unknown tool: nothing" in found["unknown"]
    return found


def test_pythons_client_is_told_the_progress_of_a_stream(front):
    running, _, _ = front
    progress, *text = run(
        sys.executable, CASES / "progress.py", f"{running.url}/mcp/shop", ALL
    ).split()
    assert progress == "1"
    assert "two" in text


@pytest.mark.parametrize(
    ("script", "client"), [("python_sdk.py", "mcp/"), ("fastmcp_client.py", "fastmcp/")]
)
def test_pythons_clients_speak_the_newest_revision(front, script, client):
    running, _, folder = front
    check(run(sys.executable, CASES / script, f"{running.url}/mcp/shop", ALL))
    until(lambda: len(messages(folder, client)) >= 5, "lines of the log")
    assert {row["revision"] for row in messages(folder, client)} == {"2026-07-28"}


@pytest.mark.parametrize(
    ("sdk", "era", "revision"),
    [("sdk", "", "2025-11-25"), ("client", "", "2025-11-25"), ("client", "auto", "2026-07-28")],
)
def test_typescripts_clients_list_call_and_cancel(front, shop, sdk, era, revision):
    running, _, folder = front
    needs(sdk)
    before, count = shop.left, len(messages(folder, f"{sdk}/"))
    url = f"{running.url}/mcp/shop"
    found = check(run(node(), CASES / "typescript_sdk.mjs", url, ALL, sdk, *filter(None, [era])))
    assert "enough" in found["cancelled"]
    until(lambda: shop.left > before, "the upstream's request to be left")
    until(lambda: len(messages(folder, f"{sdk}/")) > count, "a line of the log")
    assert messages(folder, f"{sdk}/")[count]["revision"] == revision


@pytest.mark.parametrize("era", some(["modern", "legacy", "auto"], 2))
def test_the_inspector_lists_and_calls(front, era):
    running, _, _ = front
    needs("inspector", "tox -e agents")
    command = [
        *(node(), PROGRAMS / "mcp-inspector", "--cli", f"{running.url}/mcp/shop"),
        *("--transport", "http", "--protocol-era", era),
        *("--header", f"Authorization: Bearer {ALL}", "--format", "json"),
    ]
    assert '"show"' in run(*command, "--method", "tools/list")
    called = ["--method", "tools/call", "--tool-name", "show", "--tool-arg", "id=seven"]
    assert "/items/seven" in run(*command, *called)


@pytest.mark.parametrize("revision", PASSED)
def test_the_conformance_suite_passes(front, revision, tmp_path):
    running, _, _ = front
    needs("conformance")
    output = run(
        *(node(), PROGRAMS / "conformance", "server", "--url", f"{running.url}/mcp"),
        *("--suite", "all", "--spec-version", revision, "-o", "out"),
        cwd=tmp_path,
    )
    results = dict(re.findall(r"(?:✓|✗) (\S+): (\d+ passed, \d+ failed)", output))
    failed = {name: results.get(name) for name in PASSED[revision]}
    assert {n: r for n, r in failed.items() if r is None or not r.endswith(" 0 failed")} == {}


def test_a_large_call_is_served_by_a_heavy_worker(front):
    running, _, _ = front
    body = {"name": "n" * 3_000_000}
    call = {"name": "create", "arguments": {"body": body}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    status, document = post(running, message)
    assert status == 200, document
    assert document["result"]["structuredContent"]["size"] > 3_000_000
    (heavy,) = running.workers(heavy=True)
    assert heavy != running.workers()[0]


def test_a_call_is_cancelled_by_its_client_alone(front, shop):
    running, upstream, _ = front
    before = len(upstream.requests)
    slow = {"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": {"name": "slow"}}
    answers: list[Any] = []
    waiting = threading.Thread(target=lambda: answers.append(post(running, slow)))
    waiting.start()
    until(lambda: len(upstream.requests) > before, "the upstream's request")
    cancel = {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 77, "reason": "enough"},
    }
    left = shop.left
    for other in (
        {"token": LIMITED},
        {"agent": "another"},
        {"message": {**cancel, "params": {"requestId": "77"}}},
        {"message": {**cancel, "params": {}}},
        {"path": "/mcp"},
    ):
        assert post(running, other.pop("message", cancel), **other) == (202, None)
    post(running, {"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert (shop.left, answers) == (left, [])
    assert post(running, cancel) == (202, None)
    waiting.join(PATIENCE)
    [(status, document)] = answers
    assert (status, document["result"]["isError"]) == (200, True)
    assert "cancelled" in document["result"]["content"][0]["text"]
    until(lambda: shop.left > left, "the upstream's request to be left")


def test_messages_are_in_the_metrics(front):
    running, _, _ = front
    # No other test here speaks this revision, so its one ping is this one.
    post(running, {"jsonrpc": "2.0", "id": 1, "method": "ping"}, revision="2025-06-18")
    labels = 'method="ping",revision="2025-06-18",server="shop",status="2xx"'
    name = f"modelway_mcp_messages_total{{{labels}}} 1.0"
    until(lambda: name in scrape(running), name)
