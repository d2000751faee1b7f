"""Bounds of requests in flight and their queues, for WebSockets, with real workers."""

from __future__ import annotations

import os
import select
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from tests.support.frames import KEY, Peer, accept
from tests.support.recording import (
    PATIENCE,
    ReceivedRequest,
    Recorder,
    Wire,
    ask,
    assert_error,
    recorder,
    request,
)
from tests.support.running import ALL, TOKENS, Running, gateway
from tests.support.waiting import until

DOCUMENT = """
openapi: 3.1.0
info: {title: Live, version: "1"}
paths:
  /live:
    get:
      operationId: enter
      responses: {"101": {description: it goes on as a WebSocket}}
"""
CONFIG = """
version: 1
server: {listen: "{listen}", workers: 4}
specs: {live: {document: live.yaml}}
upstreams:
  live: {url: "%s", %s, breaker: {failures: 1000000}, retry: {attempts: 1}, proxy: ""}
routes:
  - {operation: live.enter, to: [{upstream: live}], websocket: {session: %s, ping: 10m}}
"""
HANDSHAKE = request(
    "/live",
    token=ALL,
    headers=[
        *("Connection: Upgrade", "Upgrade: websocket"),
        *("Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {KEY}"),
    ],
)


class Rooms:
    """The upstream: switches protocols, and holds sessions until the gateway ends them. While it is
    `refusing` it answers 503 instead. `highest` is the most sessions that were open at one time."""

    def __init__(self) -> None:
        self.highest = 0
        self.refusing = False
        self._lock = threading.RLock()
        self._sockets: set[socket.socket] = set()

    @property
    def now(self) -> int:
        """The sessions that the gateway has not closed, whether or not their thread has seen it."""
        with self._lock:
            return sum(not is_closed(sock) for sock in self._sockets)

    def __call__(self, received: ReceivedRequest, sock: socket.socket) -> None:
        if self.refusing:
            sock.sendall(b"HTTP/1.1 503 Full\r\nContent-Length: 0\r\n\r\n")
            return
        with self._lock:
            self._sockets.add(sock)
            self.highest = max(self.highest, self.now)
        key = received.values("sec-websocket-key")[0]
        head = "HTTP/1.1 101 Go\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
        sock.sendall(f"{head}Sec-WebSocket-Accept: {accept(key)}\r\n\r\n".encode())
        try:
            while sock.recv(65_536):
                pass
        finally:
            with self._lock:
                self._sockets.remove(sock)


def is_closed(sock: socket.socket) -> bool:
    """Whether the other side has closed it, even if data from before has not been read."""
    poll = select.poll()
    poll.register(sock, select.POLLRDHUP)
    return bool(poll.poll(0))


@pytest.fixture(scope="module")
def upstream() -> Iterator[Recorder]:
    with recorder() as recording:
        yield recording


@pytest.fixture
def rooms(upstream: Recorder) -> Rooms:
    upstream.speak = rooms = Rooms()
    return rooms


@contextmanager
def bounded(folder: Path, upstream: Recorder, bound: str, session: str = "1h") -> Iterator[Running]:
    """A gateway of four workers whose upstream is bounded."""
    (folder / "live.yaml").write_text(DOCUMENT)
    with gateway(folder, CONFIG % (upstream.url, bound, session) + TOKENS) as front:
        yield front


@contextmanager
def asking(port: int) -> Iterator[Wire]:
    """A caller who has sent its handshake."""
    with Wire(port) as wire:
        wire.send(HANDSHAKE)
        yield wire


def waiting(front: Running) -> float:
    """How many requests wait in queues."""
    page = ask(front.telemetry, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").body.decode()
    lines = [line for line in page.splitlines() if line.startswith("modelway_queue_waiting{")]
    return sum(float(line.rpartition(" ")[2]) for line in lines)


def test_a_session_has_its_place_until_it_ends(
    tmp_path: Path, upstream: Recorder, rooms: Rooms
) -> None:
    bound = "max_in_flight: 2, queue: {size: 1, wait: 30s}"
    with bounded(tmp_path, upstream, bound) as front, ExitStack() as stack:
        one, two = (stack.enter_context(asking(front.port)) for _ in range(2))
        assert [one.head()[0], two.head()[0]] == [101, 101]
        third = stack.enter_context(asking(front.port))
        until(lambda: waiting(front) == 1, "the third waits")
        assert_error(ask(front.port, HANDSHAKE), 429, "upstream_busy")
        Peer(one.sock, client=True).close()
        assert third.head()[0] == 101
        assert (rooms.now, rooms.highest) == (2, 2)


def test_a_session_that_waits_too_long_is_refused(
    tmp_path: Path, upstream: Recorder, rooms: Rooms
) -> None:
    bound = "max_in_flight: 1, queue: {size: 1, wait: 100ms}"
    with bounded(tmp_path, upstream, bound) as front, asking(front.port) as one:
        assert one.head()[0] == 101
        assert_error(ask(front.port, HANDSHAKE), 429, "upstream_busy")


def test_a_session_that_was_refused_or_is_over_its_time_frees_its_place(
    tmp_path: Path, upstream: Recorder, rooms: Rooms
) -> None:
    bound = "max_in_flight: 1"
    with bounded(tmp_path, upstream, bound, session="1s") as front:
        rooms.refusing = True
        for _ in range(3):
            assert ask(front.port, HANDSHAKE).status >= 500
        rooms.refusing = False
        with asking(front.port) as one:
            assert one.head()[0] == 101
            assert_error(ask(front.port, HANDSHAKE), 429, "upstream_busy")
            until(lambda: rooms.now == 0, "its time is over")
            with asking(front.port) as two:
                assert two.head()[0] == 101


def test_a_caller_who_leaves_frees_his_place_or_his_turn(
    tmp_path: Path, upstream: Recorder, rooms: Rooms
) -> None:
    bound = "max_in_flight: 1, queue: {size: 1, wait: 10m}"
    with bounded(tmp_path, upstream, bound) as front:
        with asking(front.port) as one:
            assert one.head()[0] == 101
            with asking(front.port):
                until(lambda: waiting(front) == 1, "another one waits")
            until(lambda: waiting(front) == 0, "who left")
            two = Wire(front.port)
            two.send(HANDSHAKE)
            until(lambda: waiting(front) == 1, "the next one waits")
        with two:
            assert two.head()[0] == 101


def worker_of(front: Running, port: int) -> int:
    """The worker that has the connection of the client at a port (proc(5), /proc/net/tcp)."""
    ends = f":{front.port:04X}", f":{port:04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    inode = next(r[9] for r in rows if r[1].endswith(ends[0]) and r[2].endswith(ends[1]))
    return next(pid for pid in front.workers() if f"socket:[{inode}]" in descriptors(pid))


def descriptors(pid: int) -> set[str]:
    """What the open descriptors of a process are; those that it closes meanwhile are left out."""
    links = set()
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            links.add(os.readlink(path))
    return links


def test_the_sessions_of_a_killed_worker_free_their_places(
    tmp_path: Path, upstream: Recorder, rooms: Rooms
) -> None:
    with bounded(tmp_path, upstream, "max_in_flight: 1") as front, asking(front.port) as one:
        assert one.head()[0] == 101
        os.kill(worker_of(front, one.sock.getsockname()[1]), signal.SIGKILL)
        one.sock.settimeout(PATIENCE)
        one.rest()
        with asking(front.port) as two:
            assert two.head()[0] == 101
