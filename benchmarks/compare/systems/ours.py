"""The gateway as `modelway serve` starts it, with everything on."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from benchmarks.compare.environment import installed, output
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


@dataclass(frozen=True, slots=True)
class Build:
    """A checkout of the gateway, and the Python that runs it; `name` heads its column."""

    name: str = NAME
    root: Path = _ROOT
    python: str = sys.executable


def base(root: Path) -> Build:
    """Another checkout, under the Python that runs this program."""
    return Build("base", root.resolve())


def under(python: str) -> Build:
    """This checkout under another Python, with what it needs from PyPI. Raises LeftOut."""
    text = (_ROOT / "pyproject.toml").read_text()
    requirements = tomllib.loads(text)["project"]["dependencies"]
    home = installed("modelway", *requirements, python=python)
    code = "import platform as p; print(p.python_implementation(), p.python_version())"
    program = str(home / "bin" / "python")
    return Build(output([program, "-c", code]), python=program)


def prepare(
    folder: Path, upstream: Upstream, workers: int = 1, build: Build | None = None
) -> System:
    """With tokens of the records database."""
    build = build or Build()
    port = free_port()
    (folder / "openapi").symlink_to(build.root / "openapi")
    config = folder / "gateway.yaml"
    tls = f"tls: {{ca: {upstream.ca}}}" if upstream.ca else ""
    config.write_text(_CONFIG.format(port=port, upstream=upstream.origin, tls=tls, workers=workers))
    environ = {"PYTHONPATH": str(build.root), "XDG_CACHE_HOME": str(folder / "cache")}
    command = [build.python, "-m", "engine"]
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
    name = f"{build.name} {version(build.root)}"
    return System(build.name, name, serve, folder, port, tokens, environ, caches=caches)


def version(root: Path) -> str:
    """As pyproject.toml says, with the commit where there is one."""
    number = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    command = ["git", "-C", str(root), "rev-parse", "--short", "HEAD"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    return " ".join([number, process.stdout.strip()]).strip()
