"""The gateway of the demo, and its mock upstream."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

import click
from msgspec.structs import replace

from engine.app.build import build
from engine.cli.config_file import result_or_exit
from engine.config.models import Model
from engine.config.server import Server
from engine.config.telemetry import OFF
from engine.config.upstreams import BreakerConfig
from engine.plan.assembly.make_plan import make_plan
from engine.plan.plan import Plan
from engine.process.runtime_dir import use_for_temporary_files
from engine.server.gunicorn_application import GunicornApplication
from engine.source import files
from engine.values.caller import Caller, digest, new_secret

_CREDENTIAL = "mock-credential"
_UPSTREAMS = {
    "OPENAI_UPSTREAM": "/v1",
    "ANTHROPIC_UPSTREAM": "/v1",
    "RERANK_UPSTREAM": "/v1",
    "GEMINI_UPSTREAM": "/v1beta",
}
_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "RERANK_API_KEY")


def run(port: int) -> None:
    """Serve the demo until a signal ends it; port 0 stands for a free one."""
    port = port or _free_port()
    mock_port = _free_port()
    secret = new_secret()
    use_for_temporary_files()
    with _mock(mock_port) as wait_for_mock:
        plan = _plan(f"127.0.0.1:{port}", mock_port, secret)
        wait_for_mock()
        GunicornApplication(
            plan.config.server, lambda: build(plan), lambda: click.echo(_usage(port, secret))
        ).run()


def _plan(listen: str, mock_port: int, secret: str) -> Plan:
    """The shipped config with the mock as upstream, one token, and the mock's faults as models."""
    environ = dict.fromkeys(_KEYS, _CREDENTIAL) | {
        name: f"http://127.0.0.1:{mock_port}{path}" for name, path in _UPSTREAMS.items()
    }
    result = result_or_exit(make_plan(files.CONFIG, environ))
    assert result.plan is not None
    config = result.plan.config
    faults = Model("fault-*", config.models["gpt-4o"].to, (), "fault-*", "modelway", 0)
    breaker = BreakerConfig(failures=1_000_000)  # faults are intended here
    upstreams = {
        name: replace(upstream, proxy="", breaker=breaker)
        for name, upstream in config.upstreams.items()
    }
    config = replace(
        config,
        server=Server(listen=listen, workers=1),
        telemetry=replace(config.telemetry, listen=OFF),
        upstreams=upstreams,
        models={**config.models, "fault-*": faults},
        tokens={digest(secret): Caller("demo")},
    )
    return replace(result.plan, config=config)


@contextmanager
def _mock(port: int) -> Iterator[Callable[[], None]]:
    """A mock upstream in a separate process, of the same config wherever the demo is started. The
    block gets a function that waits for it."""
    command = [sys.executable, "-P", "-m", "engine", "mock", "--config", str(files.CONFIG)]
    command += ["--port", str(port), "--delay", "0.03"]
    log = tempfile.TemporaryFile()  # noqa: SIM115 - ends with the process
    process = subprocess.Popen(  # noqa: S603 - this program
        command, stderr=log, start_new_session=True
    )
    try:
        yield lambda: _wait(port, process, log)
    finally:
        process.terminate()
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(port: int, process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    deadline = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    log.seek(0)
    output = log.read().decode(errors="replace")
    raise click.ClickException(f"the mock upstream did not start:\n{output}")


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def _usage(port: int, secret: str) -> str:
    base = f"http://127.0.0.1:{port}/v1"
    return f"""
Modelway is running with a mock upstream that echoes messages.

  base URL  {base}
  token     {secret}
  pages     http://127.0.0.1:{port}/ (playground: /console/playground, reference: /docs)

curl, streaming:

  curl -N {base}/chat/completions \\
    -H 'Authorization: Bearer {secret}' -H 'Content-Type: application/json' \\
    -d '{{"model": "gpt-4o", "stream": true,
         "messages": [{{"role": "user", "content": "Hello there!"}}]}}'

Python, with the official SDK (pip install openai):

  from openai import OpenAI
  client = OpenAI(base_url="{base}", api_key="{secret}")
  answer = client.chat.completions.create(
      model="gpt-4o", messages=[{{"role": "user", "content": "Hello!"}}]
  )
  print(answer.choices[0].message.content)

Model names like fault-status-503 or fault-close-after-2 request a fault. Ctrl-C stops the demo.
"""
