"""One system under measurement: how it is started, and asked whether it is there."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.compare.proc import tree

_PATIENCE = 120.0
CHATS = "/v1/chat/completions"
MODEL = "gpt-4o"


class LeftOut(Exception):
    """A system cannot be had here; `str` says why."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """The upstream that systems ask, on a port of this machine. `ca` is the file of the
    certificate authority to trust where it is asked over TLS, None over plain HTTP."""

    port: int
    ca: Path | None = None

    @property
    def origin(self) -> str:
        return f"{'https' if self.ca else 'http'}://127.0.0.1:{self.port}"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a load of chats goes, and what callers send there: one of `tokens`, `model`, and
    `headers` as `name: value`."""

    port: int
    tokens: tuple[str, ...] = ("none",)
    path: str = CHATS
    model: str = MODEL
    headers: tuple[str, ...] = ()

    def to_json(self) -> str:
        """For an argument of another process."""
        return json.dumps([self.port, self.tokens, self.path, self.model, self.headers])

    @classmethod
    def from_json(cls, text: str) -> Endpoint:
        port, tokens, path, model, headers = json.loads(text)
        return cls(port, tuple(tokens), path, model, tuple(headers))

    def request(self, body: bytes, number: int = 0) -> bytes:
        """A chat as bytes of HTTP/1.1; those of other numbers have another token, request id and
        client address."""
        body = body.replace(f'"{MODEL}"'.encode(), f'"{self.model}"'.encode())
        lines = (
            f"POST {self.path} HTTP/1.1",
            "Host: 127.0.0.1",
            f"Authorization: Bearer {self.tokens[number % len(self.tokens)]}",
            "Content-Type: application/json",
            "User-Agent: OpenAI/Python 3.52.0",
            f"X-Forwarded-For: 10.{number % 256}.{number * 7 % 256}.7",
            f"X-Request-Id: {number:032x}",
            *self.headers,
            f"Content-Length: {len(body)}",
        )
        return "\r\n".join([*lines, "", ""]).encode() + body


@dataclass(frozen=True, slots=True)
class System:
    """A system in `folder` on a port of this machine; callers show one of `tokens`.

    `port` may be a file into which the system writes its port. `streams` says whether it can stream
    at all, `paced` how many streams of 20 ms it takes with ease. `caches` are the variables that
    name folders in which it may keep what it has compiled. A `peer` is a gateway for models that
    others make.
    """

    name: str
    version: str
    command: Sequence[str]
    folder: Path
    port: int | Path
    tokens: tuple[str, ...] = ("none",)
    environ: Mapping[str, str] = field(default_factory=dict)
    streams: bool = True
    paced: int = 100
    caches: tuple[str, ...] = ()
    path: str = CHATS
    model: str = MODEL
    headers: tuple[str, ...] = ()
    peer: bool = False

    @property
    def endpoint(self) -> Endpoint:
        """Raises OSError or ValueError while the system has not written its port."""
        port = self.port if isinstance(self.port, int) else int(self.port.read_text())
        return Endpoint(port, self.tokens, self.path, self.model, self.headers)


@contextmanager
def running(system: System, body: bytes, more: Mapping[str, str] | None = None) -> Iterator[int]:
    """The system's first process, once it answers; it and all below it end with the block."""
    process = spawn(system, more or {})
    try:
        first_answer(system, body, process)
        yield process.pid
    finally:
        end(process)


def spawn(system: System, more: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start it, in a session of its own; what it says goes to output.log in its folder. Byte code
    is kept, whatever the environment of this process says."""
    environ = {**os.environ, **system.environ, **more}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if isinstance(system.port, Path):
        system.port.unlink(missing_ok=True)
    with (system.folder / "output.log").open("ab") as log:
        return subprocess.Popen(
            system.command,
            cwd=system.folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def first_answer(system: System, body: bytes, process: subprocess.Popen[bytes]) -> None:
    """Wait for the first chat that is answered. Raises LeftOut when none is in two minutes."""
    until = time.monotonic() + _PATIENCE
    reason = ""
    while time.monotonic() < until and process.poll() is None:
        try:
            status, reason = ask(system.endpoint, body)
            if status == 200:
                return
        except (OSError, ValueError, http.client.HTTPException) as error:
            reason = str(error)
        time.sleep(0.005)
    log = (system.folder / "output.log").read_text(errors="replace")
    raise LeftOut(f"it did not start: {reason[:200]} {log[-600:]}")


def ask(endpoint: Endpoint, body: bytes) -> tuple[int, str]:
    """Status and text of one chat."""
    with socket.create_connection(("127.0.0.1", endpoint.port), timeout=30) as sock:
        sock.sendall(endpoint.request(body))
        answer = http.client.HTTPResponse(sock, method="POST")
        answer.begin()
        return answer.status, answer.read().decode(errors="replace")


def end(process: subprocess.Popen[bytes]) -> None:
    """Ask it to end, and see that it has, with all below it."""
    below = [pid for pid in tree(process.pid) if pid != process.pid]
    process.terminate()
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pid in below:
        if Path(f"/proc/{pid}").exists() and os.getsid(pid) == process.pid:
            os.kill(pid, signal.SIGKILL)
