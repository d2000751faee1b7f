"""Gateways that begin as copies of a process that has imported the engine.

Five sixths of the CPU time until a gateway answers are imports, the same for each of the hundreds
that tests start. `Warm.start` asks a process that has done them to fork: the copy has its session,
folder, environment and command line of its own, and runs `python -m engine` with them as after an
exec. What a start itself does is tested with commands that are started cold.

As a program, this file is that process. It reads requests from the socket whose descriptor it gets.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

_MAX_MESSAGE = 1_000_000
CONNECTIONS: set[int] = set()
"""The inodes of the sockets to these processes, which this one keeps."""


_LATE = (
    "engine.app.build",
    "engine.app.client_secrets",
    "engine.app.limit_warnings",
    "engine.app.recorder",
    "engine.cli.mock",
    "engine.cli.serve",
    "engine.offline.rehearsal.boot",
    "engine.server.reload",
    "engine.spec",
    "engine.stores.counters.memory",
    "engine.translations",
    "engine.upstream",
)
"""Modules, and packages with all of theirs."""


class WarmProcess:
    """A copy, with the part of `subprocess.Popen` that tests use. The process that forked it is its
    parent, and tells how it ended."""

    def __init__(self, warm: Warm, pid: int, args: Sequence[str]) -> None:
        self.pid, self.args = pid, args
        self.returncode: int | None = None
        self._warm = warm

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self._warm.status(self.pid)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        end = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
            time.sleep(0.01)
        return code

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Warm:
    """The process that forks; it ends with the one that made it."""

    def __init__(self) -> None:
        self._sock, sock = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._inode = os.fstat(self._sock.fileno()).st_ino
        CONNECTIONS.add(self._inode)
        self._lock = threading.Lock()
        with sock:
            program = [sys.executable, "-P", __file__, str(sock.fileno())]
            environ = {**os.environ, "PYTHONUNBUFFERED": "1"}
            self._process = subprocess.Popen(
                program, env=environ, cwd="/", pass_fds=[sock.fileno()]
            )

    def start(
        self,
        arguments: Sequence[str],
        folder: Path,
        environ: Mapping[str, str],
        out: IO[bytes],
        err: IO[bytes] | None = None,
    ) -> WarmProcess:
        """Run `python -m engine` with arguments in a folder; its stdout goes to `out`, its stderr
        to `err`, or to `out` as well."""
        request = {"argv": list(arguments), "cwd": str(folder), "env": dict(environ)}
        pid = self._ask(request, [out.fileno(), (err or out).fileno()])
        assert pid is not None
        return WarmProcess(self, pid, arguments)

    def status(self, pid: int) -> int | None:
        """The exit status of a copy, negative for a signal; None while it runs."""
        return self._ask({"poll": pid})

    def stop(self) -> None:
        CONNECTIONS.discard(self._inode)
        self._sock.close()
        self._process.wait()

    def _ask(self, request: Mapping[str, object], descriptors: Sequence[int] = ()) -> int | None:
        with self._lock:
            socket.send_fds(self._sock, [json.dumps(request).encode()], descriptors)
            answer: int | None = json.loads(self._sock.recv(_MAX_MESSAGE))
            return answer


def serve(sock: socket.socket) -> None:
    """Answer requests until the other end is closed."""
    statuses: dict[int, int] = {}
    while True:
        data, descriptors, _, _ = socket.recv_fds(sock, _MAX_MESSAGE, 2)
        if not data:
            return
        request = json.loads(data)
        if "poll" in request:
            answer = _status(request["poll"], statuses)
        elif (answer := os.fork()) == 0:
            sock.close()
            _run(request, descriptors)
            return
        for descriptor in descriptors:
            os.close(descriptor)
        sock.sendall(json.dumps(answer).encode())


def _status(pid: int, statuses: dict[int, int]) -> int | None:
    if pid not in statuses:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if not ended:
            return None
        statuses[pid] = os.waitstatus_to_exitcode(status)
    return statuses[pid]


def _run(request: Mapping[str, object], descriptors: Sequence[int]) -> None:
    """Become the process that was asked for, with these as its stdout and stderr, and run it to its
    end."""
    os.setsid()
    for number, descriptor in enumerate(descriptors, 1):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(request["env"])  # type: ignore[call-overload]
    time.tzset()
    os.chdir(str(request["cwd"]))
    sys.path.insert(0, os.getcwd())
    sys.argv = ["engine", *request["argv"]]  # type: ignore[misc]
    runpy.run_module("engine", run_name="__main__", alter_sys=True)


def load() -> None:
    """Import what starts of gateways import, also late: the trial, the recorder, its database and
    the languages of models."""
    for name in _LATE:
        module = importlib.import_module(name)
        for found in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{name}."):
            importlib.import_module(found.name)


if __name__ == "__main__":
    gc.disable()
    load()
    gc.freeze()  # collections of copies would copy all pages of what is imported
    gc.enable()
    serve(socket.socket(fileno=int(sys.argv[1])))
