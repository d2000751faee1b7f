"""Gateways that begin as copies of a process that has imported the engine.

Five sixths of the CPU time until a gateway answers are imports, the same for each of the hundreds
that tests start. `Warm.start` asks a process that has done them to fork: the copy has its session,
folder, environment and command line of its own, and runs `python -m engine` with them as after an
exec. What a start itself does is tested with commands that are started cold. The gate starts its
processes of pytest so, too (`tools/pytest_groups.py`).

That process is `warm_server.py`. A process whose environment has DOOR gets a copy of the one that
has opened it, rather than import the engine again.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

DOOR = "MODELWAY_TEST_WARM"
"""Names the socket, of the abstract ones, at which a process that forks makes copies of itself."""
_MAX_MESSAGE = 1_000_000
_PROGRAM = Path(__file__).with_name("warm_server.py")
PROCESSES: set[int] = set()
"""The ids of these processes."""
CONNECTIONS: set[int] = set()
"""The inodes of the sockets to them, which this one keeps."""


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

    def __init__(
        self,
        imports: Sequence[str] = (),
        home: Path | None = None,
        door: socket.socket | None = None,
    ) -> None:
        """The process imports what gateways need, as it is installed, or other `imports`, as they
        are in `home`. It copies itself for who connects to a `door`."""
        self._sock, sock = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        CONNECTIONS.add(os.fstat(self._sock.fileno()).st_ino)
        self._lock = threading.Lock()
        self.shells, shells = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        CONNECTIONS.add(os.fstat(self.shells.fileno()).st_ino)
        with sock, shells:
            descriptors = [each.fileno() for each in (sock, shells, door) if each is not None]
            if DOOR in os.environ and not imports and door is None:
                self._pid, self._process = _copy_behind(os.environ[DOOR], descriptors), None
            else:
                self._process = _start(descriptors, imports, home)
                self._pid = self._process.pid
            PROCESSES.add(self._pid)
            self._end = os.pidfd_open(self._pid)

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
        if self._process is not None:
            self._process.wait()
        end = select.poll()
        end.register(self._end, select.POLLIN)
        end.poll()
        os.close(self._end)
        PROCESSES.discard(self._pid)

    def _ask(self, request: Mapping[str, object], descriptors: Sequence[int] = ()) -> int | None:
        with self._lock:
            socket.send_fds(self._sock, [json.dumps(request).encode()], descriptors)
            answer: int | None = json.loads(self._sock.recv(_MAX_MESSAGE))
            return answer


def _start(
    descriptors: Sequence[int], imports: Sequence[str], home: Path | None
) -> subprocess.Popen[bytes]:
    program = [sys.executable, "-P", str(_PROGRAM), *map(str, descriptors), *imports]
    environ = {**os.environ, "PYTHONUNBUFFERED": "1"}
    if home is not None:
        paths = str(home), os.environ.get("PYTHONPATH", "")
        environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    return subprocess.Popen(program, env=environ, cwd="/", pass_fds=descriptors)


def _copy_behind(door: str, descriptors: Sequence[int]) -> int:
    """The id of a copy of the process that has opened a door. It serves these sockets, and writes
    to the stdout and stderr of this one."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
        sock.connect(f"\0{door}")
        socket.send_fds(sock, [b"copy"], [*descriptors, 1, 2])
        pid: int = json.loads(sock.recv(100))
        return pid


@contextmanager
def opened_door() -> Iterator[None]:
    """Within the block, each `Warm` without imports of this process, and of those that have its
    environment, is a copy of one process."""
    name = f"modelway-warm-{os.getpid()}-{time.monotonic_ns()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
        sock.bind(f"\0{name}")
        sock.listen()
        process = Warm(door=sock)
    before = os.environ.get(DOOR)
    os.environ[DOOR] = name
    try:
        yield
    finally:
        del os.environ[DOOR]
        if before is not None:
            os.environ[DOOR] = before
        process.stop()
