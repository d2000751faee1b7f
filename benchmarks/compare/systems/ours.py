"""The gateway as `modelway serve` starts it, with everything on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from benchmarks.compare.system import System, Upstream
from tests.support.ports import free_port

NAME = "modelway"
_ROOT = Path(__file__).resolve().parents[3]
_TOKENS = 10
_CONFIG = """
version: 1
server: {{listen: "127.0.0.1:{port}", workers: {workers}}}
stores: {{records: "sqlite:///var/modelway.db", counters: memory}}
specs: {{openai: {{document: openapi/openai.yaml, dialect: openai}}}}
upstreams:
  up:
    url: {upstream}/v1
    {tls}
    dialect: openai
    credential: {{bearer: sk-benchmark}}
models: {{gpt-4o: {{to: [{{upstream: up}}]}}}}
prices: {{"*": {{input: 2.5, output: 10, cached_input: 1.25}}}}
telemetry: {{listen: off, access_log: {{path: access.log}}}}
policies:
  - rate_limit: {{requests: 100000000, per: 1m}}
routes:
  - {{operation: openai.createChatCompletion, model: $request.body#/model}}
"""


def prepare(folder: Path, upstream: Upstream, workers: int = 1) -> System:
    """With tokens of the records database."""
    port = free_port()
    (folder / "openapi").symlink_to(_ROOT / "openapi")
    config = folder / "gateway.yaml"
    tls = f"tls: {{ca: {upstream.ca}}}" if upstream.ca else ""
    config.write_text(_CONFIG.format(port=port, upstream=upstream.origin, tls=tls, workers=workers))
    environ = {"PYTHONPATH": str(_ROOT), "XDG_CACHE_HOME": str(folder / "cache")}
    command = [sys.executable, "-m", "engine"]
    tokens = tuple(
        subprocess.run(
            [*command, "token", "create", "--name", f"benchmark-{n}", "--config", str(config)],
            env={**os.environ, **environ},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for n in range(_TOKENS)
    )
    serve = [*command, "serve", "--config", str(config)]
    caches = ("PYTHONPYCACHEPREFIX", "XDG_CACHE_HOME")
    name = f"modelway {version()}"
    return System(NAME, name, serve, folder, port, tokens, environ, caches=caches)


def version() -> str:
    """As pyproject.toml says, with the commit where there is one."""
    text = (_ROOT / "pyproject.toml").read_text()
    match = re.search(r'^version = "(.+)"$', text, re.MULTILINE)
    assert match is not None
    command = ["git", "-C", str(_ROOT), "rev-parse", "--short", "HEAD"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    return " ".join([match[1], process.stdout.strip()]).strip()
