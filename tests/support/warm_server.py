"""The process that `warm.py` starts, as a program. It reads requests from the sockets whose
descriptors it gets, and imports the modules that it gets besides."""

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
import socket
import struct
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

_MAX_MESSAGE = 1_000_000
_PEER = struct.Struct("3i")  # process, user and group
_STEP = 10
"""Milliseconds between two looks whether a command has ended."""
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


class Server:
    """The process that forks, and what it answers. Who connects to its `door` gets a copy of it."""

    def __init__(
        self, sock: socket.socket, shells: socket.socket, door: socket.socket | None = None
    ) -> None:
        self._sock, self._shells, self._door = sock, shells, door
        self._statuses: dict[int, int] = {}
        self._commands: dict[int, socket.socket] = {}  # where the status of a shell's command goes

    def serve(self) -> None:
        """Answer requests until the other end is closed."""
        poll = select.poll()  # descriptors of a run of many tests are above those that select takes
        sockets = {sock.fileno(): sock for sock in self._sockets()}
        for descriptor in sockets:
            poll.register(descriptor, select.POLLIN)
        while True:
            ready = poll.poll(_STEP if self._commands else None)
            for pid in [pid for pid in self._commands if self._status(pid) is not None]:
                self._end_command(pid)
            for sock in (sockets[descriptor] for descriptor, _ in ready):
                if sock is self._door:
                    if (copy := self._fork(sock)) is not None:
                        copy.serve()
                        return
                    continue
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

    def _fork(self, door: socket.socket) -> Server | None:
        """Fork for who connects. Returns what the copy serves, and None in this process, which does
        not wait for its copies: it ends soon after them. The door has no permissions, as a file
        has, so another user of the machine is turned away here (unix(7), SO_PEERCRED)."""
        connection, _ = door.accept()
        with connection:
            peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
            if _PEER.unpack(peer)[1] != os.getuid():
                return None
            _, descriptors, _, _ = socket.recv_fds(connection, 100, 4)
            pid = os.fork()
            if pid:
                for descriptor in descriptors:
                    os.close(descriptor)
                connection.sendall(json.dumps(pid).encode())
                return None
        self._close()
        os.setsid()
        for number, descriptor in enumerate(descriptors[2:], 1):
            os.dup2(descriptor, number)
            os.close(descriptor)
        return Server(*(socket.socket(fileno=number) for number in descriptors[:2]))

    def _sockets(self) -> list[socket.socket]:
        return [sock for sock in (self._sock, self._shells, self._door) if sock is not None]

    def _close(self) -> None:
        for sock in (*self._sockets(), *self._commands.values()):
            sock.close()

    def _become(self, request: Mapping[str, object], descriptors: Sequence[int]) -> None:
        self._close()
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
    sockets = [word for word in sys.argv[1:4] if word.isdigit()]
    names = sys.argv[1 + len(sockets) :]
    load(names or _LATE)
    if not names:
        read_shipped_data()
    gc.freeze()  # collections of copies would copy all pages of what is imported
    gc.enable()
    Server(*(socket.socket(fileno=int(number)) for number in sockets)).serve()
