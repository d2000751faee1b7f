"""Programs that speak MCP to a gateway, and single messages to one."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from tests.support.agents import FOLDER, PROGRAMS
from tests.support.running import ALL, Running
from tests.support.waiting import PATIENCE, under_load

CASES = Path(__file__).parent.parent / "cases" / "mcp"


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """What a program prints."""
    path = f"{PROGRAMS}:{os.environ['PATH']}"
    environ = {"PATH": path, "HOME": str(FOLDER), "MODULES": str(FOLDER / "node_modules")}
    done = subprocess.run(
        command, env=environ, cwd=cwd, capture_output=True, text=True, timeout=under_load(100)
    )
    assert done.stdout, done.stderr[-2000:]
    return done.stdout


def post(
    running: Running,
    message: object,
    *,
    token: str = ALL,
    agent: str = "tests",
    path: str = "/mcp/shop",
    revision: str = "",
) -> tuple[int, Any]:
    request = Request(f"{running.url}{path}", json.dumps(message).encode())
    request.add_header("content-type", "application/json")
    request.add_header("authorization", f"Bearer {token}")
    request.add_header("user-agent", agent)
    if revision:
        request.add_header("mcp-protocol-version", revision)
    with urlopen(request, timeout=PATIENCE) as response:
        body = response.read()
        return response.status, json.loads(body) if body else None


def scrape(running: Running) -> str:
    with urlopen(f"http://127.0.0.1:{running.telemetry}/metrics", timeout=PATIENCE) as response:
        return str(response.read().decode())
