"""Gateways that begin as copies of a process that has imported the engine.

Five sixths of the CPU time until a gateway answers are imports, the same for each of the hundreds
that tests start. `Warm.start` asks a process that has done them to fork: the copy has its session,
folder, environment and command line of its own, and runs `python -m engine` with them as after an
exec. What a start itself does is tested with commands that are started cold. The gate starts its
processes of pytest so, too (`tools/pytest_groups.py`).

As a program, this file is that process. It reads requests from the sockets whose descriptors it
gets, and imports the modules that it gets besides.
"""

from __future__ import annotations

import gc
import importlib
import io
import json
import os
import pkgutil
import resource
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TextIO

_MAX_MESSAGE = 1_000_000
_STEP = 10
"""Milliseconds between two looks whether a command has ended."""
PROCESSES: set[int] = set()
"""The ids of these processes."""
CONNECTIONS: set[int] = set()
"""The inodes of the sockets to them, which this one keeps."""


_LATE = (
    "alembic.command",
    "alembic.ddl",
    "engine.app.build",
    "engine.app.services.limit_warnings",
    "engine.app.services.recorder_work",
    "engine.cli.mock",
    "engine.cli.serve",
    "engine.exchange.client_secret_keys",
    "engine.offline.rehearsal.boot",
    "engine.server.gateway",
    "engine.spec",
    "engine.stores.counters.memory",
    "engine.translations",
    "engine.upstream",
    "sqlalchemy.dialects.sqlite",
)
"""Modules, and packages with all of theirs."""
_CONFIG = f"""
version: 1
server: {{listen: "127.0.0.1:8080"}}
specs: {{rerank: {{document: {Path(__file__).parents[2]}/openapi/rerank.yaml}}}}
upstreams:
  one: {{url: "https://one.example/v1", dialect: openai}}
  two: {{url: "https://two.example/v1", dialect: anthropic}}
  three: {{url: "https://three.example/v1", dialect: gemini}}
models: {{any: {{to: [{{upstream: one}}, {{upstream: two}}, {{upstream: three}}]}}}}
routes: [{{operations: "*", to: [{{upstream: one}}], auth: none}}]
"""


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
    """The process that forks; it ends with the one that made it. A shell that inherits `shells` can
    ask it as well, with `warm_command.py`."""

    def __init__(self, imports: Sequence[str] = (), home: Path | None = None) -> None:
        """The process imports what gateways need, as it is installed, or other `imports`, as they
        are in `home`."""
        self._sock, sock = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        CONNECTIONS.add(os.fstat(self._sock.fileno()).st_ino)
        self._lock = threading.Lock()
        self.shells, shells = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        CONNECTIONS.add(os.fstat(self.shells.fileno()).st_ino)
        with sock, shells:
            descriptors = [sock.fileno(), shells.fileno()]
            program = [sys.executable, "-P", __file__, *map(str, descriptors), *imports]
            environ = {**os.environ, "PYTHONUNBUFFERED": "1"}
            if home is not None:
                paths = str(home), os.environ.get("PYTHONPATH", "")
                environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
            self._process = subprocess.Popen(program, env=environ, cwd="/", pass_fds=descriptors)
            PROCESSES.add(self._process.pid)

    def start(
        self,
        arguments: Sequence[str],
        folder: Path,
        environ: Mapping[str, str],
        out: IO[bytes],
        err: IO[bytes] | None = None,
        *,
        module: str = "engine",
        descriptors: int | None = None,
    ) -> WarmProcess:
        """Run `python -m engine`, or another `module`, with arguments in a folder; its stdout goes
        to `out`, its stderr to `err`, or to `out` as well. It may have so many `descriptors`."""
        request = {"argv": list(arguments), "cwd": str(folder), "env": dict(environ)}
        request |= {"module": module, "descriptors": descriptors}
        with open(os.devnull, "rb") as nothing:
            pid = self._ask(request, [nothing.fileno(), out.fileno(), (err or out).fileno()])
        assert pid is not None
        return WarmProcess(self, pid, arguments)

    def status(self, pid: int) -> int | None:
        """The exit status of a copy, negative for a signal; None while it runs."""
        return self._ask({"poll": pid})

    def stop(self) -> None:
        for sock in (self._sock, self.shells):
            CONNECTIONS.discard(os.fstat(sock.fileno()).st_ino)
            sock.close()
        self._process.wait()
        PROCESSES.discard(self._process.pid)

    def _ask(self, request: Mapping[str, object], descriptors: Sequence[int] = ()) -> int | None:
        with self._lock:
            socket.send_fds(self._sock, [json.dumps(request).encode()], descriptors)
            answer: int | None = json.loads(self._sock.recv(_MAX_MESSAGE))
            return answer


class Server:
    """The process that forks, and what it answers."""

    def __init__(self, sock: socket.socket, shells: socket.socket) -> None:
        self._sock, self._shells = sock, shells
        self._statuses: dict[int, int] = {}
        self._commands: dict[int, socket.socket] = {}  # where the status of a shell's command goes

    def serve(self) -> None:
        """Answer requests until the other end is closed."""
        poll = select.poll()  # descriptors of a run of many tests are above those that select takes
        sockets = {sock.fileno(): sock for sock in (self._sock, self._shells)}
        for descriptor in sockets:
            poll.register(descriptor, select.POLLIN)
        while True:
            ready = poll.poll(_STEP if self._commands else None)
            for pid in [pid for pid in self._commands if self._status(pid) is not None]:
                self._end_command(pid)
            for sock in (sockets[descriptor] for descriptor, _ in ready):
                data, descriptors, _, _ = socket.recv_fds(sock, _MAX_MESSAGE, 4)
                if not data:
                    return
                request = json.loads(data)
                if "poll" in request:
                    sock.sendall(json.dumps(self._status(request["poll"])).encode())
                elif (pid := os.fork()) == 0:
                    self._become(request, descriptors)
                    return
                else:
                    self._note(sock, pid, descriptors)

    def _become(self, request: Mapping[str, object], descriptors: Sequence[int]) -> None:
        for sock in (self._sock, self._shells, *self._commands.values()):
            sock.close()
        for descriptor in descriptors[3:]:
            os.close(descriptor)
        _run(request, descriptors[:3])

    def _note(self, sock: socket.socket, pid: int, descriptors: Sequence[int]) -> None:
        """Tell the id of a copy to who asked for it."""
        for descriptor in descriptors[:3]:
            os.close(descriptor)
        if sock is self._shells:
            sock = self._commands[pid] = socket.socket(fileno=descriptors[3])
        sock.sendall(json.dumps(pid).encode())

    def _end_command(self, pid: int) -> None:
        with self._commands.pop(pid) as sock, suppress(OSError):  # the command was killed
            sock.sendall(json.dumps(self._statuses[pid]).encode())

    def _status(self, pid: int) -> int | None:
        if pid not in self._statuses:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if not ended:
                return None
            self._statuses[pid] = os.waitstatus_to_exitcode(status)
        return self._statuses[pid]


def _run(request: Mapping[str, object], descriptors: Sequence[int]) -> None:
    """Become the process that was asked for, with these as its stdin, stdout and stderr, and run it
    to its end."""
    os.setsid()
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    reader = io.BufferedReader(io.FileIO(0, closefd=False))
    sys.stdin = io.TextIOWrapper(reader, sys.stdin.encoding, sys.stdin.errors)
    sys.stdout, sys.stderr = _unbuffered(1, sys.stdout), _unbuffered(2, sys.stderr)
    os.environ.clear()
    os.environ.update(request["env"])  # type: ignore[call-overload]
    time.tzset()
    os.chdir(str(request["cwd"]))
    if (limit := request.get("descriptors")) is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    sys.path.insert(0, os.getcwd())
    module = str(request.get("module", "modelway"))
    sys.argv = [module, *request["argv"]]  # type: ignore[misc]
    if "module" in request:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    else:
        importlib.import_module("modelway").main()


def load(names: Sequence[str] = _LATE) -> None:
    """Import modules, and of the engine's packages all modules. Without names it is what starts of
    gateways import, also late: the trial, the recorder, its database, the languages of models."""
    for name in names:
        module = importlib.import_module(name)
        folders = getattr(module, "__path__", ()) if name.startswith("engine") else ()
        for each in pkgutil.walk_packages(folders, f"{name}."):
            importlib.import_module(each.name)


def read_shipped_data() -> None:
    """Read what is the same for every gateway: what providers, models and keys of configs are."""
    plan = importlib.import_module("engine.plan.assembly.make_plan")
    translations = importlib.import_module("engine.translations")
    plan.make_plan(Path("/gateway.yaml"), {}, text=_CONFIG)
    translations.preload(importlib.import_module("engine.dialects").names())


def _unbuffered(number: int, before: TextIO) -> TextIO:
    """A stream to a descriptor as of `python -u`, in the encoding of that before."""
    raw = io.FileIO(number, "wb", closefd=False)
    return io.TextIOWrapper(raw, before.encoding, before.errors, write_through=True)


if __name__ == "__main__":
    gc.disable()
    sockets, names = sys.argv[1:3], sys.argv[3:]
    load(names or _LATE)
    if not names:
        read_shipped_data()
    gc.freeze()  # collections of copies would copy all pages of what is imported
    gc.enable()
    Server(*(socket.socket(fileno=int(number)) for number in sockets)).serve()
