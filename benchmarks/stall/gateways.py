"""The gateways of one worker each to which the kinds of large requests are sent.

All have the shipped config; what a gateway has beside it says its name:

    plain      nothing
    judged     a `deny` over all messages, and transforms of requests and responses
    guarded    a guard of requests and answers
    wide       objects with sealed ids, MCP servers, conditions, a mirror, a database
    odd        a document with schemas that cost more than others (`odd_kinds.py`)
    sockets    sessions whose messages may be compressed
    crowd      thousands of models (`crowd_kinds.py`)
    issuer     callers with JSON Web Tokens of an issuer with many keys
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks.serving import first_answer, write_project
from benchmarks.stall.bound_kinds import ISSUER
from benchmarks.stall.crowd_kinds import many_models
from benchmarks.stall.kept_kinds import many_operations
from benchmarks.stall.odd_kinds import DOCUMENT
from benchmarks.stall.turns import LongestTurns
from engine.process.runtime_dir import runtime_directory
from engine.server.master_state import read
from tests.support.ports import free_port
from tests.support.running import listens
from tests.support.waiting import until

OBJECT_KEY = "0123456789abcdef" * 2
MAX_BODY = "60MB"

_JUDGES = """policies:
  - deny:
      if:
        body:
          messages: {contains: {properties: {content: {pattern: "(?i)pass(word|phrase) is"}}}}
  - transform:
      request: {body: {remove: ["$.messages[*].name"], default: {temperature: 0.5}}}
      response: {body: {remove: [system_fingerprint]}}
"""
_GUARD = "policies:\n  - guard: {webhook: guard, mode: redact, timeout: 60s}\n"
_GUARD_UPSTREAM = '  guard: {url: "URL/guard", proxy: ""}\n'
_FAR_UPSTREAM = """  far: {mcp: "URL/mcp", proxy: ""}
  many: {mcp: "URL/mcp-many", proxy: ""}
"""
_MODELS = """
  gpt-text: {to: [{upstream: openai}]}
  gpt-image-small: {to: [{upstream: openai}], operations: [openai.createImage]}
  gpt-by-size:
    to: [{upstream: openai}]
    when:
      - if: {has: [image, file], body: {user: nobody}}
        to: [{upstream: openai, model: gpt-4o}]
      - if: {has: [image, file]}
        to: [{upstream: openai, model: gpt-4o}]
      - if: {tokens: {minimum: 1000000}}
        to: [{upstream: openai, model: gpt-4.1}]
  gpt-mirrored:
    to: [{upstream: openai}]
    mirror: {to: [{upstream: openai, model: gpt-4o}], percent: 100}
"""
_SESSIONS = (
    "    model: {from: $request.query.model, default: gpt-realtime}",
    "    model: $request.body#/setup/model    # the first message of the session",
)
"""Lines of the shipped config behind which sessions have settings."""
_ROUTE = "  - {operations: [NAME.*], to: [{upstream: openai}]}"
_WIDE = f"""
objects: {{key: "{OBJECT_KEY}", owner: all}}
stores: {{records: "sqlite:///modelway.db"}}
mcp:
  far: {{path: /mcp/far, servers: {{far: {{}}}}, search_above: 5000}}
  many: {{path: /mcp/many, servers: {{many: {{}}}}, search_above: 20000}}
  files: {{path: /mcp/files, operations: [openai-files.downloadFile, openai-files.listFiles]}}
  models:
    path: /mcp/models
    models:
      chat: [gpt-4o, gpt-text]
      generate_image: gpt-image-small
"""


_ISSUER = f"""
callers:
  jwt: [{{issuer: "{ISSUER}", audience: stall, jwks: "URL/keys"}}]
"""


class Gateway(NamedTuple):
    """Where a gateway listens, where its workers note their turns, and its config."""

    port: int
    turns: LongestTurns
    config: Path
    process: subprocess.Popen[bytes]

    def reload(self) -> None:
        """Change the config, and wait until it is served."""
        count = self._reloads()
        self.config.write_text(self.config.read_text() + "\n# changed\n")
        self.process.send_signal(signal.SIGHUP)
        until(lambda: self._reloads() > count, "an answer to SIGHUP", 60)

    def _reloads(self) -> float:
        state = read(runtime_directory(self.config))
        return 0 if state is None else state.tried


@contextmanager
def running_upstream() -> Iterator[int]:
    """The upstream, on its port."""
    port = free_port()
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.stall.upstream", str(port)])
    try:
        until(lambda: listens(port), "the upstream")
        yield port
    finally:
        process.terminate()
        process.wait()


@contextmanager
def running_gateway(name: str, upstream: int) -> Iterator[Gateway]:
    """A gateway before the upstream on a port. What it logs goes to the file STALL_LOG, if that is
    set."""
    url, port = f"http://127.0.0.1:{upstream}", free_port()
    keys = {"OPENAI_API_KEY": "x", "ANTHROPIC_API_KEY": "x", "GEMINI_API_KEY": "x"}
    names = ("OPENAI", "ANTHROPIC", "GEMINI")
    environ = keys | {f"{name}_UPSTREAM": f"{url}/v1" for name in names}
    with tempfile.TemporaryDirectory() as folder:
        config = write_project(folder, port, "off")
        config.write_text(_config(name, config.read_text(), url))
        config.with_name("odd.json").write_text(json.dumps(DOCUMENT))
        config.with_name("many.json").write_text(json.dumps(many_operations()))
        turns = Path(folder, "turns")
        longest = LongestTurns(turns)
        process = _serve(turns, config, environ)
        try:
            first_answer(port, time.monotonic())
            yield Gateway(port, longest, config, process)
        finally:
            process.terminate()
            process.wait()


def _config(name: str, text: str, url: str) -> str:
    """The config of the gateway of this name, from that of the shipped project."""
    head, _, rest = text.partition("\npolicies:")
    tokens = "\ntokens:" + rest.partition("\ntokens:")[2]
    if name == "judged":
        return f"{head}\n{_JUDGES}{tokens}"
    if name == "guarded":
        guard = _GUARD_UPSTREAM.replace("URL", url)
        return head.replace("\nmodels:", f"\n{guard}\nmodels:") + f"\n{_GUARD}{tokens}"
    if name in ("odd", "many"):
        head = head.replace("\nspecs:", f"\nspecs:\n  {name}: {{document: {name}.json}}")
        head = head.replace("\nroutes:", f"\nroutes:\n{_ROUTE.replace('NAME', name)}")
        return f"{head}\n{tokens}"
    if name == "issuer":
        return f"{head}\n{tokens}{_ISSUER.replace('URL', url)}"
    if name == "sockets":
        head = head.replace("session: 1h}", "session: 1h, compression: true}")
        for line in _SESSIONS:
            head = head.replace(line, f"{line}\n    websocket: {{compression: true}}")
    if name == "crowd":
        head = head.replace("  gpt-4o-mini: *chat\n", f"  gpt-4o-mini: *chat\n{many_models()}")
    if name == "wide":
        head = head.replace("\n# include:", "\ninclude: [objects.yaml] #")
        head = head.replace("max_body: 25MB", f"max_body: {MAX_BODY}")
        far = _FAR_UPSTREAM.replace("URL", url)
        before, line, after = head.partition("\nmodels:")
        rest_of_line, _, models = after.partition("\n")
        head = f"{before}\n{far}{line}{rest_of_line}{_MODELS}{models}"
        return f"{head}\n{tokens}{_WIDE}"
    return f"{head}\n{tokens}"


def _serve(turns: Path, config: Path, environ: dict[str, str]) -> subprocess.Popen[bytes]:
    serve = ["serve", "--config", str(config)]
    command = [sys.executable, "-m", "benchmarks.stall.turns", str(turns), *serve]
    with Path(os.environ.get("STALL_LOG", os.devnull)).open("ab") as log:
        return subprocess.Popen(command, env={**os.environ, **environ}, stdout=log, stderr=log)
