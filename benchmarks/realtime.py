"""What relaying a WebSocket costs: CPU per message, bytes per CPU second, memory per idle session.

One gateway worker with everything on; a raw socket upstream and the callers are processes of their
own, and send frames made beforehand. CPU is the worker's own, from /proc. Linux only.

    python -m benchmarks.realtime [main IDLE_SESSIONS]
"""

from __future__ import annotations

import json
import os
import resource
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import gevent
import gevent.socket
from gevent.server import StreamServer
from websockets.utils import accept_key

from benchmarks.serving import cpu_seconds, resident, start, workers, write_project
from tests.support.ports import free_port

SMALL = b"x" * 200
LARGE = os.urandom(65_536)
KEY = "dGhlIHNhbXBsZSBub25jZQ=="
ASK = (
    "GET /v1/realtime?model=gpt-realtime&intent=%s HTTP/1.1\r\nHost: x\r\n"
    "Authorization: Bearer mw-bench-one\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {KEY}\r\n\r\n"
)


def frame(opcode: int, data: bytes, masked: bool) -> bytes:
    """A frame; its mask is zero, which costs as much to remove as any other."""
    mask = 0x80 if masked else 0
    size = len(data)
    if size < 126:
        head = struct.pack("!BB", 0x80 | opcode, mask | size)
    elif size < 65_536:
        head = struct.pack("!BBH", 0x80 | opcode, mask | 126, size)
    else:
        head = struct.pack("!BBQ", 0x80 | opcode, mask | 127, size)
    return head + (b"\0\0\0\0" if masked else b"") + data


def read_head(sock: Any) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        more = sock.recv(65_536)
        if not more:
            raise SystemExit(f"no answer: {data[:300]!r}")
        data += more
    return data


def read_exactly(sock: Any, size: int) -> None:
    while size > 0:
        data = sock.recv(min(size, 1_048_576))
        if not data:
            raise SystemExit("a session was cut")
        size -= len(data)


def serve_upstream(port: int) -> None:
    """A WebSocket server. The query `intent` selects echo, sink-COUNT, send-COUNT or idle."""

    def handle(sock: Any, _: object) -> None:
        head = read_head(sock)
        key = head.lower().partition(b"sec-websocket-key:")[0]
        key = head[len(key) + 18 :].split(b"\r\n")[0].strip()
        sock.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: %s\r\n\r\n" % accept_key(key.decode()).encode()
        )
        kind, _, count = head.partition(b"intent=")[2].split(b" ")[0].partition(b"-")
        small, large = frame(1, SMALL, masked=False), frame(2, LARGE, masked=False)
        if kind == b"send":
            for _ in range(int(count)):
                sock.sendall(large)
        size = len(small) + 4
        received = 0
        while data := sock.recv(1_048_576):
            received += len(data)
            if kind == b"echo":
                sock.sendall(small * (received // size))
                received %= size
            elif kind == b"sink" and received >= int(count) * (len(large) + 4):
                sock.sendall(small)

    StreamServer(("127.0.0.1", port), handle, backlog=4096).serve_forever()


def open_session(port: int, intent: str) -> tuple[Any, int]:
    """The socket of a new session, and the bytes of frames that were read with the head."""
    sock = gevent.socket.create_connection(("127.0.0.1", port))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.sendall((ASK % intent).encode())
    head = read_head(sock)
    if not head.startswith(b"HTTP/1.1 101"):
        raise SystemExit(head[:300])
    return sock, len(head.partition(b"\r\n\r\n")[2])


def echo(port: int, sessions: int, messages: int) -> None:
    """Send messages and get them back, one at a time in each of some sessions."""
    there, back = frame(1, SMALL, masked=True), len(frame(1, SMALL, masked=False))

    def caller() -> None:
        sock, _ = open_session(port, "echo")
        for _ in range(messages // sessions):
            sock.sendall(there)
            read_exactly(sock, back)
        sock.close()

    gevent.joinall([gevent.spawn(caller) for _ in range(sessions)], raise_error=True)


def receive(port: int, frames: int) -> None:
    """Take large frames as fast as they come."""
    sock, early = open_session(port, f"send-{frames}")
    read_exactly(sock, frames * len(frame(2, LARGE, masked=False)) - early)


def send(port: int, frames: int) -> None:
    """Send large frames as fast as they are taken."""
    sock, _ = open_session(port, f"sink-{frames}")
    large = frame(2, LARGE, masked=True)
    for _ in range(frames):
        sock.sendall(large)
    read_exactly(sock, len(frame(1, SMALL, masked=False)))


def idle(port: int, sessions: int) -> None:
    """Hold sessions open until standard input ends."""
    open_sessions = [open_session(port, "idle") for _ in range(sessions)]
    print(len(open_sessions), flush=True)
    sys.stdin.read()


def cpu_of(pid: int, work: Callable[[], object]) -> float:
    """CPU seconds of a process for some work."""
    before = cpu_seconds(pid)
    work()
    return cpu_seconds(pid) - before


def start_process(work: str, *arguments: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "benchmarks.realtime", work, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def run_in_process(work: str, *arguments: object) -> None:
    process = start_process(work, *arguments)
    process.communicate()
    if process.returncode:
        raise SystemExit(f"{work} failed")


@contextmanager
def gateway(folder: str, upstream: int) -> Iterator[tuple[int, int]]:
    """Port and worker of a gateway in front of the upstream."""
    port = free_port()
    config = write_project(folder, port, "off")
    environ = {"OPENAI_UPSTREAM": f"http://127.0.0.1:{upstream}/v1", "OPENAI_API_KEY": "x"}
    process = start("serve", "--config", str(config), environ=environ)
    try:
        for _ in range(500):
            try:
                open_session(port, "idle")[0].close()
                break
            except OSError:
                time.sleep(0.02)
        else:
            raise SystemExit("the gateway did not start")
        yield port, workers(process.pid)[0]
    finally:
        process.terminate()
        process.wait()


def main(sessions: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4 * sessions)), hard))
    upstream = free_port()
    process = start_process("serve_upstream", upstream)
    try:
        with tempfile.TemporaryDirectory() as folder, gateway(folder, upstream) as (port, pid):
            measure(port, pid, sessions)
    finally:
        process.kill()


def measure(port: int, pid: int, sessions: int) -> None:
    messages, frames = 20_000, 16_000
    for count in (1, 16, 16):
        work = partial(run_in_process, "echo", port, count, messages)
        seconds = cpu_of(pid, work) / (2 * messages)
        print(f"CPU per message   {seconds * 1e6:4.0f} us of 200 bytes, {count} sessions")
    for direction in ("receive", "send"):
        seconds = cpu_of(pid, partial(run_in_process, direction, port, frames))
        rate = frames * len(LARGE) / seconds / 1e6
        print(f"frames of 64 KB   {rate:4.0f} MB per CPU second, callers {direction}")
    before = resident(pid)
    holding = start_process("idle", port, sessions)
    assert holding.stdout is not None
    assert json.loads(holding.stdout.readline()) == sessions
    time.sleep(2)
    size = (resident(pid) - before) * 1024 / sessions
    idle_cpu = cpu_of(pid, lambda: time.sleep(10)) / 10
    print(f"idle sessions     {sessions}: {size:.0f} KB each, {idle_cpu * 100:.1f} % of a core")
    holding.communicate()


if __name__ == "__main__":
    work, *arguments = sys.argv[1:] or ["main", "1000"]
    if work in ("main", "serve_upstream", "echo", "receive", "send", "idle"):
        globals()[work](*map(int, arguments))
