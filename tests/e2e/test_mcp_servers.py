"""Real MCP servers of others behind a gateway: of Python's SDK and fastmcp, which speak the newest
revision, and npm's server-everything, which wants a session."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.agents import FOLDER, missing_node
from tests.support.mcp_programs import CASES, post, run, scrape
from tests.support.ports import free_port
from tests.support.running import ALL, TOKENS, Running, gateway
from tests.support.waiting import until

CONFIG = f"""version: 1
server: {{listen: "{{listen}}", workers: 1}}
upstreams:
SERVERS
mcp:
  all: {{path: /mcp, servers: {{NAMES}}}}
telemetry: {{access_log: {{path: access.log}}}}
{TOKENS}"""
EVERYTHING = FOLDER / "node_modules/@modelcontextprotocol/server-everything/dist/index.js"


def commands() -> dict[str, list[str]]:
    """The servers that can be started here, by the names of their upstreams."""
    found = {
        "sdk": [sys.executable, str(CASES / "sdk_server.py"), "PORT"],
        "fast": [sys.executable, str(CASES / "fastmcp_server.py"), "PORT"],
    }
    if not missing_node(18) and EVERYTHING.exists():
        found["every"] = ["node", str(EVERYTHING), "streamableHttp"]
    return found


def listens(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, Path]]:
    folder, ports = tmp_path_factory.mktemp("mcp"), {}
    with ExitStack() as stack:
        for name, command in commands().items():
            port = ports[name] = free_port()
            words = [str(port) if word == "PORT" else word for word in command]
            log = stack.enter_context((folder / f"{name}.log").open("wb"))
            process = subprocess.Popen(
                words, env={**os.environ, "PORT": str(port)}, stdout=log, stderr=log
            )
            stack.callback(process.wait)
            stack.callback(process.terminate)
        for port in ports.values():
            until(lambda port=port: listens(port), f"a server at port {port}")
        lines = [
            f'  {name}: {{mcp: "http://127.0.0.1:{port}/mcp", proxy: ""}}'
            for name, port in ports.items()
        ]
        names = ", ".join(f"{name}: {{}}" for name in ports)
        text = CONFIG.replace("SERVERS", "\n".join(lines)).replace("NAMES", names)
        yield stack.enter_context(gateway(folder, text)), folder


def result(running: Running, name: str, arguments: dict[str, Any]) -> Any:
    call = {"name": name, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    status, document = post(running, message, path="/mcp")
    assert status == 200, document
    return document["result"]


def test_a_client_lists_and_calls_the_tools_of_all_servers(front):
    running, _ = front
    output = run(sys.executable, CASES / "remote_tools.py", f"{running.url}/mcp", ALL)
    found = json.loads(output.splitlines()[-1])
    assert {"fast_draw", "fast_greet", "sdk_add", "sdk_fail"} <= set(found["tools"])
    assert found["sum"] == {"result": 3}
    assert found["greeting"] == "Hello, Bo."
    assert found["image"] == "image/png"
    assert found["failed"] is True


def test_a_server_that_wants_a_session_gets_one(front):
    running, _ = front
    if "every" not in commands():
        pytest.skip(f"no server-everything in {FOLDER}; `.ci/run` installs it")
    assert result(running, "every_echo", {"message": "hi"})["content"][0]["text"] == "Echo: hi"
    image = result(running, "every_get-tiny-image", {})["content"][1]
    assert image["type"] == "image"
    arguments = {"duration": 1, "steps": 2}
    slow = result(running, "every_trigger-long-running-operation", arguments)
    assert "completed" in slow["content"][0]["text"]


def test_calls_and_lists_are_in_log_and_metrics(front):
    running, folder = front
    result(running, "sdk_add", {"a": 1, "b": 2})
    log = folder / "access.log"  # its lines are written after the answers
    until(lambda: log.exists() and '"operation":"sdk.add"' in log.read_text(), "the call's line")
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    row = next(row for row in rows if row.get("operation") == "sdk.add")
    assert (row["upstream"], row["mcp"]["tool"], row["status"]) == ("sdk", "sdk_add", 200)
    name = 'modelway_mcp_lists_total{outcome="received",upstream="sdk"} 1.0'
    until(lambda: name in scrape(running), name)
