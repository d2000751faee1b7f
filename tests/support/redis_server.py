"""A Redis server on a free port that a test can kill, pause and start again."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tests.support.blocks import block
from tests.support.peer import Certificate
from tests.support.ports import free_port
from tests.support.waiting import Deadline

BINARY = os.environ.get("MODELWAY_REDIS_SERVER") or shutil.which("redis-server")
"""Any server of this protocol: Valkey's has the same options."""
WHY_NOT = "redis-server is not installed (apt-get install redis-server)"


def _rights(beginning: str) -> str:
    """The rights of a user in the manual's page, whose command begins so."""
    text = block("docs/reference/counters.md", f"ACL SETUSER gateway on >PASSWORD {beginning}").text
    return " ".join(text.partition(">PASSWORD ")[2].split())


ACL, SENTINEL_ACL = _rights("resetkeys"), _rights("resetchannels")
"""What the manual says that a user of Redis and of Sentinels needs."""


class RedisTls(NamedTuple):
    """What servers show each other and their clients over TLS, and the authority of both."""

    ca: str
    pair: Certificate

    def directives(self, port: int) -> dict[str, str]:
        """The lines of a config with which a server also listens at a port with TLS, and its
        replication or cluster uses that."""
        return {
            "tls-port": str(port),
            "tls-ca-cert-file": self.ca,
            "tls-cert-file": self.pair.cert,
            "tls-key-file": self.pair.key,
            "tls-replication": "yes",
            "tls-cluster": "yes",
        }


class RedisServer:
    """A server without persistence, in a folder that `close` removes. With `tls` it also listens at
    `tls_port`, where clients need a certificate."""

    def __init__(self, *options: str, tls: RedisTls | None = None) -> None:
        assert BINARY is not None, WHY_NOT
        self._home = Path(tempfile.mkdtemp(prefix="redis-"))
        self.tls_port = free_port()
        directives = {} if tls is None else tls.directives(self.tls_port)
        secure = [word for name, value in directives.items() for word in (f"--{name}", value)]
        self._options = (*options, *secure)
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.unix_url = f"unix://{self._home}/socket"
        self.start()

    def start(self) -> None:
        """Start it (again), and wait until it answers."""
        self._process = subprocess.Popen(
            [
                *(str(BINARY), "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""),
                *("--dir", str(self._home), "--unixsocket", str(self._home / "socket")),
                *self._options,
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = Deadline(10)
        while True:
            try:
                self.say("PING")
                return
            except OSError:
                assert self._process.poll() is None, "redis-server ended at once"
                assert not deadline.passed(), "redis-server does not answer"
                time.sleep(0.01)

    def say(self, line: str) -> bytes:
        """The first 64 KB of the response to an inline command."""
        return command(self.port, line)

    def kill(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.wait()

    def pause(self) -> None:
        """Stop its process until `go_on`: connections stay open without answers."""
        os.kill(self._process.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        os.kill(self._process.pid, signal.SIGCONT)

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self._home, ignore_errors=True)


def command(port: int, line: str) -> bytes:
    """The first 64 KB of the response of the server at a port to an inline command."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as sock:
        sock.sendall(line.encode() + b"\r\n")
        return sock.recv(65536)
