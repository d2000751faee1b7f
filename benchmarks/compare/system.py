"""One system under measurement: how it is started, and asked whether it is there."""

from __future__ import annotations

import http.client
import os
import signal
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
    """Where a load of chats goes, and what callers send there: one of `tokens`, and `model`."""

    port: int
    tokens: tuple[str, ...] = ("none",)
    path: str = CHATS
    model: str = MODEL


@dataclass(frozen=True, slots=True)
class System:
    """A system in `folder` on a port of this machine; callers show one of `tokens`.

    `port` may be a file into which the system writes its port. `streams` says whether it can stream
    at all, `paced` how many streams of 20 ms it takes with ease. `caches` are the variables that
    name folders in which it may keep what it has compiled.
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

    @property
    def endpoint(self) -> Endpoint:
        """Raises OSError or ValueError while the system has not written its port."""
        port = self.port if isinstance(self.port, int) else int(self.port.read_text())
        return Endpoint(port, self.tokens, self.path, self.model)


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
    """Start it, in a session of its own; what it says goes to output.log in its folder."""
    environ = {**os.environ, **system.environ, **more}
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
    connection = http.client.HTTPConnection("127.0.0.1", endpoint.port, timeout=30)
    headers = {
        "authorization": f"Bearer {endpoint.tokens[0]}",
        "content-type": "application/json",
    }
    body = body.replace(f'"{MODEL}"'.encode(), f'"{endpoint.model}"'.encode())
    try:
        connection.request("POST", endpoint.path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(errors="replace")
    finally:
        connection.close()


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
