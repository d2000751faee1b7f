"""One system under measurement: how it is started, and asked whether it is there."""

from __future__ import annotations

import http.client
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


class LeftOut(Exception):
    """A system cannot be had here; `str` says why."""


@dataclass(frozen=True, slots=True)
class System:
    """A system in `folder` on a port of this machine; `token` is what its callers show.

    `streams` says whether it can stream at all, `paced` how many streams of 20 ms it takes with
    ease. `caches` are the variables that name folders in which it may keep what it has compiled.
    """

    name: str
    version: str
    command: Sequence[str]
    folder: Path
    port: int
    token: str = "none"
    environ: Mapping[str, str] = field(default_factory=dict)
    streams: bool = True
    paced: int = 100
    caches: tuple[str, ...] = ()


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


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
    said = ""
    while time.monotonic() < until and process.poll() is None:
        try:
            status, said = ask(system, body)
            if status == 200:
                return
        except (OSError, http.client.HTTPException) as error:
            said = str(error)
        time.sleep(0.005)
    log = (system.folder / "output.log").read_text(errors="replace")
    raise LeftOut(f"it did not start: {said[:200]} {log[-600:]}")


def ask(system: System, body: bytes) -> tuple[int, str]:
    """Status and text of one chat."""
    connection = http.client.HTTPConnection("127.0.0.1", system.port, timeout=30)
    headers = {"authorization": f"Bearer {system.token}", "content-type": "application/json"}
    try:
        connection.request("POST", "/v1/chat/completions", body, headers)
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
