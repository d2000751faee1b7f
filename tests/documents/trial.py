"""One document: `check` cold and with its cache, then a gateway in front of an upstream that
records what arrives."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.documents.document import Document, NotJudged, Operation
from tests.documents.requests import INVALID, NOTE, Request, requests
from tests.support.running import gateway

MOUNT = "/mounted"
CONFIG = """\
version: 1
server: {{listen: "{{listen}}", workers: 1}}
specs: {{x: {{document: "{document}", mount: [{mount}]}}}}
upstreams: {{u: {{url: "http://127.0.0.1:{port}", proxy: ""}}}}
routes: [{{operations: "x.*", auth: none, validate_responses: report, to: [{{upstream: u}}]}}]
"""
_SECONDS = 300
_MEASURE = """
import json, resource, subprocess, sys
subprocess.run(sys.argv[2:])
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    json.dump([usage.ru_utime + usage.ru_stime, usage.ru_maxrss], file)
"""
"""Runs a command, and writes its seconds and kilobytes: a process of its own, because the memory of
the process that starts another one counts as memory of that, too."""


@dataclass
class Result:
    """What became of a document. `failures` are the differences from what is owed to it, each with
    its place; `not_judged` counts the reasons for which an operation was not called."""

    version: str = ""
    operations: int = 0
    cold: float = 0.0
    warm: float = 0.0
    megabytes: float = 0.0
    sent: Counter[str] = field(default_factory=Counter)
    off: list[str] = field(default_factory=list)
    failures: dict[str, list[str]] = field(default_factory=dict)
    not_judged: Counter[str] = field(default_factory=Counter)

    def fail(self, kind: str, words: str) -> None:
        self.failures.setdefault(kind, []).append(words)


def trial(file: Path, most_operations: int) -> Result:
    """Check and serve a document; at most so many of its operations are called."""
    result = Result()
    with tempfile.TemporaryDirectory() as name, _upstream() as upstream:
        folder = Path(name)
        config = CONFIG.format(document=file, mount=MOUNT, port=upstream.server_port)
        (folder / "gateway.yaml").write_text(config.replace("{listen}", "127.0.0.1:0"))
        check_document(folder, result)
        document = Document(file)
        operations = list(document.calls())
        result.version, result.operations = document.version, len(operations)
        if result.failures:
            return result
        environ = {"XDG_CACHE_HOME": str(folder / "cache")}
        try:
            with gateway(folder, config, environ) as running:
                for request in _requests(document, operations, most_operations, result):
                    _send(request, running.port, upstream, result)
        except AssertionError as error:  # it does not start, or has ended
            result.fail("crash", str(error)[-300:].strip())
    return result


def _requests(
    document: Document, operations: Sequence[Operation], most: int, result: Result
) -> Iterator[Request]:
    """Requests of so many operations, evenly chosen."""
    shapes = Counter(_shape(path, method) for path, method, _, _ in operations)
    step = max(len(operations) // most, 1)
    for path, method, item, operation in operations[::step][:most]:
        several = shapes[_shape(path, method)] > 1
        try:
            yield from requests(document, path, method, item, operation, has_alternatives=several)
        except NotJudged as error:
            result.not_judged[str(error)[:60]] += 1


def _shape(path: str, method: str) -> tuple[str, str]:
    """What the routes of two operations have in common if requests cannot tell them apart."""
    return re.sub(r"\{[^}]*\}", "{}", NOTE.split(path)[0].partition("?")[0]), method


def check_document(folder: Path, result: Result) -> None:
    """Both checks, with the CPU and memory that they and their children take."""
    first = _run_check(folder, "cold")
    second = _run_check(folder, "warm")
    result.cold, result.warm = first[0], second[0]
    result.megabytes = max(first[1], second[1])
    report = folder / "cold.json"
    try:
        problems = json.loads(report.read_text())["problems"]
    except (ValueError, KeyError):
        return result.fail("crash", (folder / "cold.err").read_text()[-300:])
    for problem in problems:
        place = f"{problem['line']}:{problem['column']}: {problem['message']} [{problem['code']}]"
        if problem["code"] in ("MW205", "MW209"):
            result.off.append(f"{place} {problem.get('hint', '')}")
        elif problem["code"] == "MW000" or "unexpected" in problem["message"].lower():
            result.fail("crash", place)
        elif problem["level"] == "error":
            result.fail("error", place)
    return None


def _run_check(folder: Path, name: str) -> tuple[float, float]:
    """Seconds of CPU, and megabytes."""
    environ = {k: v for k, v in os.environ.items() if k not in ("CI", "PYTHONDONTWRITEBYTECODE")}
    environ["XDG_CACHE_HOME"] = str(folder / "cache")
    check = [sys.executable, "-m", "engine", "check", "-c", "gateway.yaml", "--format", "json"]
    usage = folder / f"{name}.usage"
    with (folder / f"{name}.json").open("w") as out, (folder / f"{name}.err").open("w") as errors:
        subprocess.run(
            [sys.executable, "-c", _MEASURE, usage, *check],
            check=False,
            cwd=folder,
            env=environ,
            stdout=out,
            stderr=errors,
            timeout=_SECONDS,
        )
    seconds, kilobytes = json.loads(usage.read_text())
    return seconds, kilobytes / 1024


def _send(request: Request, port: int, upstream: _Upstream, result: Result) -> None:
    """Send a request, and compare what arrives with it."""
    result.sent[request.verdict] += 1
    upstream.arrived.clear()
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        target, headers = f"{MOUNT}{request.target}", dict(request.headers)
        connection.request(request.method, target, request.body or None, headers)
        response = connection.getresponse()
        answer, status = response.read(), response.status
    finally:
        connection.close()
    arrived = upstream.arrived[0] if upstream.arrived else None
    subject = f"{request.operation} {request.body.decode('utf-8', 'replace')[:200]}"
    if request.verdict == INVALID:
        if arrived is not None or status < 400:
            result.fail("let through", subject)
    elif status == 404 and result.off:
        result.not_judged["an operation that is off"] += 1
    elif arrived is None:
        result.fail(f"refused {request.verdict}", f"{subject} -> {status} {answer[:200]!r}")
    elif request.method != "HEAD" and (status, answer) != (200, b"{}"):
        result.fail("changed", f"{subject}: the response {status} {answer[:200]!r}")
    elif arrived != (request.method, request.target, request.body):
        result.fail("changed", f"{subject}: {arrived!r}")


class _Upstream(ThreadingHTTPServer):
    """Keeps the requests that arrive."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.arrived: list[tuple[str, str, bytes]] = []


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Any

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._answer
        raise AttributeError(name)

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.arrived.append((self.command, self.path, body))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(b"{}")

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nothing is printed."""


@contextmanager
def _upstream() -> Iterator[_Upstream]:
    server = _Upstream()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
