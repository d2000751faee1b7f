"""Requests in flight at the end of their worker get a row, a log line and an error event."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support.books import Books
from tests.support.ports import free_port
from tests.support.recording import ReceivedRequest, Recorder, Wire, recorder
from tests.support.running import (
    Running,
    engine,
    environment,
    gateway,
    start,
    with_telemetry,
)
from tests.support.small import chat, project
from tests.support.thorough import some
from tests.support.waiting import until

STREAMS, WAITING = 90, 10
RECORDS = 'stores: {records: "sqlite:///records.db"}'
EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"w "}}]}\n\n'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


@dataclass
class Endless:
    """An upstream that streams, or does not respond, until `over` is set."""

    over: threading.Event = field(default_factory=threading.Event)
    pace: float = 0.1
    event: bytes = EVENT

    def __call__(self, received: ReceivedRequest, sock: socket.socket) -> None:
        if b'"stream": true' not in received.body:
            self.over.wait(120)
            return
        sock.sendall(HEAD)
        while not self.over.wait(self.pace):
            sock.sendall(self.event)


@dataclass
class Caller(threading.Thread):
    """One request and its result."""

    port: int
    stream: bool
    status: int = 0
    body: bytes = b""
    end: str = ""

    def __post_init__(self) -> None:
        super().__init__(daemon=True)

    __hash__ = threading.Thread.__hash__

    def run(self) -> None:
        with Wire(self.port) as wire:
            wire.sock.settimeout(120)
            wire.send(chat("chat", stream=True) if self.stream else chat("chat"))
            self.status, headers = wire.head()
            if dict(headers).get("transfer-encoding") != "chunked":
                self.body = wire.rest()
                self.end = "closed"
                return
            try:
                for piece in wire.pieces():
                    self.body += piece
                self.end = "clean"
            except EOFError:
                self.end = "cut"


@dataclass
class Deployment:
    running: Running
    folder: Path
    upstream: Recorder

    def callers(self, streams: int, waiting: int = 0) -> list[Caller]:
        """Callers after all requests have reached the upstream, and streams have begun."""
        all_callers = [
            Caller(self.running.port, number < streams) for number in range(streams + waiting)
        ]
        for caller in all_callers:
            caller.start()
        until(lambda: len(self.upstream.requests) == len(all_callers), "all requests", 60)
        until(lambda: all(c.body for c in all_callers if c.stream), "an event of each stream", 60)
        return all_callers

    def lines(self) -> list[dict[str, Any]]:
        """The lines of the access log about requests for an operation."""
        entries = [
            line for line in self.running.output().splitlines() if line.startswith('{"time":"')
        ]
        return [row for line in entries if (row := json.loads(line))["operation"]]


@contextmanager
def serve(
    folder: Path, server: str = "grace: 4s", speak: Callable[..., None] | None = None
) -> Iterator[Deployment]:
    """`modelway serve` in front of an endless upstream."""
    with recorder() as upstream:
        upstream.speak = endless = speak or Endless()
        config = project(folder, upstream.url, {"chat": "[]"}, more=RECORDS)
        with gateway(folder, config.replace("workers: 2", f"workers: 2, {server}")) as running:
            upstream.reset()
            upstream.speak = endless
            yield Deployment(running, folder, upstream)
        getattr(endless, "over", threading.Event()).set()


@contextmanager
def own_gunicorn(folder: Path, worker: str) -> Iterator[Deployment]:
    """The same application under a gunicorn of the operator's, with this worker."""
    with recorder() as upstream:
        upstream.speak = endless = Endless()
        port = free_port()
        config = project(folder, upstream.url, {"chat": "[]"}, more=RECORDS)
        config = config.replace("workers: 2", "workers: 2, grace: 4s")
        (folder / "gateway.yaml").write_text(config.replace("{listen}", "127.0.0.1:1"))
        command = (sys.executable, "-m", "gunicorn", "-k", worker, "-w", "2")
        options = ("-b", f"127.0.0.1:{port}", "--graceful-timeout", "4", "engine.wsgi:app")
        environ = {"MODELWAY_CONFIG": "gateway.yaml"}
        running = start([*command, *options], port, folder, environ)
        try:
            yield Deployment(running, folder, upstream)
        finally:
            running.stop()
            endless.over.set()


def assert_nothing_is_lost(front: Deployment, callers: list[Caller]) -> None:
    """Assert that every caller got a response, and every request has its row and its line."""
    for caller in callers:
        caller.join(60)
    ends = Counter((caller.stream, caller.status, caller.end) for caller in callers)
    streams = sum(caller.stream for caller in callers)
    assert ends == Counter(
        {(True, 200, "cut"): streams, (False, 503, "closed"): len(callers) - streams}
    )
    for caller in callers:
        last = caller.body.rpartition(b"data: ")[2]
        assert json.loads(last)["error"]["code"] == "shutting_down"
    until(
        lambda: Books(front.folder).outcomes()["shutdown"] >= len(callers),
        "a row of each request",
        10,
    )
    assert Books(front.folder).outcomes() == Counter({"shutdown": len(callers)})
    until(lambda: len(front.lines()) >= len(callers), "a line of each request", 10)
    log_outcomes = Counter((line["status"], line["outcome"]) for line in front.lines())
    assert log_outcomes == Counter(
        {(200, "shutdown"): streams, (503, "shutdown"): len(callers) - streams}
    )
    assert "Traceback" not in front.running.output()
    assert "SIGKILL" not in front.running.output()


@pytest.mark.parametrize("sig", some([signal.SIGTERM, signal.SIGINT], 1), ids=lambda sig: sig.name)
def test_100_requests_longer_than_the_grace_lose_no_row_when_the_gateway_stops(
    tmp_path: Path, sig: signal.Signals
) -> None:
    with serve(tmp_path) as front:
        callers = front.callers(STREAMS, WAITING)
        front.running.process.send_signal(sig)
        assert front.running.process.wait(30) == 0
        assert_nothing_is_lost(front, callers)
        assert set(Books(tmp_path).column("outcome")) == {"shutdown"}  # shipped before the end


def test_100_requests_longer_than_the_grace_lose_no_row_on_a_reload(tmp_path: Path) -> None:
    with serve(tmp_path) as front:
        old = set(front.running.workers())
        callers = front.callers(STREAMS, WAITING)
        front.running.process.send_signal(signal.SIGHUP)
        until(lambda: not old & set(front.running.workers()), "the end of the old workers", 60)
        assert_nothing_is_lost(front, callers)
        assert front.running.process.poll() is None


@pytest.mark.parametrize("worker", some(["gevent", "engine.server.worker.Worker"], 1))
def test_own_gunicorn_loses_no_row(tmp_path: Path, worker: str) -> None:
    with own_gunicorn(tmp_path, worker) as front:
        callers = front.callers(STREAMS, WAITING)
        front.running.process.send_signal(signal.SIGTERM)
        assert front.running.process.wait(30) == 0
        assert_nothing_is_lost(front, callers)
        assert set(Books(tmp_path).column("outcome")) == {"shutdown"}


def test_workers_whose_master_was_killed_end_their_requests(tmp_path: Path) -> None:
    with serve(tmp_path) as front:
        callers = front.callers(4, 2)
        front.running.process.kill()
        assert_nothing_is_lost(front, callers)
        assert "the master is gone" in front.running.output()


@pytest.mark.parametrize("grace", some(["0s", "500ms", "1s"], 1))
def test_a_very_short_grace_loses_no_row(tmp_path: Path, grace: str) -> None:
    with serve(tmp_path, f"grace: {grace}") as front:
        callers = front.callers(18, 2)
        front.running.process.send_signal(signal.SIGTERM)
        assert front.running.process.wait(30) == 0
        assert_nothing_is_lost(front, callers)


def test_a_caller_who_takes_nothing_is_cut_and_has_its_row(tmp_path: Path) -> None:
    large = EVENT.replace(b"w ", b"w" * 100_000)
    with serve(tmp_path, speak=Endless(pace=0.001, event=large)) as front:
        with Wire(front.running.port) as wire:
            wire.send(chat("chat", stream=True))
            wire.head()  # reads no more: the buffers of both sides fill up
            until(lambda: _is_full(wire), "full buffers")
            front.running.process.send_signal(signal.SIGTERM)
            assert front.running.process.wait(30) == 0
        assert Books(front.folder).outcomes() == Counter({"shutdown": 1})
        assert [line["outcome"] for line in front.lines()] == ["shutdown"]


def _is_full(wire: Wire) -> bool:
    """Whether the receive buffer of a caller has stopped growing for half a second."""

    def size() -> int:
        return int(struct.unpack("i", fcntl.ioctl(wire.sock, termios.FIONREAD, bytes(4)))[0])

    before = size()
    time.sleep(0.5)
    return before > 0 and size() == before


def test_a_body_that_is_still_coming_is_answered_503(tmp_path: Path) -> None:
    with serve(tmp_path) as front, Wire(front.running.port) as wire:
        head, _, body = chat("chat").partition(b"\r\n\r\n")
        wire.send(head + b"\r\nExpect: 100-continue\r\n\r\n")
        assert wire.head()[0] == 100  # from now on the gateway waits for the body
        wire.send(body[:-10])
        front.running.process.send_signal(signal.SIGTERM)
        response = wire.answer("POST")
        assert (response.status, response.json()["error"]["code"]) == (503, "shutting_down")
        assert response.closed
        assert front.running.process.wait(30) == 0
        assert Books(front.folder).outcomes() == Counter({"shutdown": 1})


def test_a_flood_of_hangups_is_two_reloads(tmp_path: Path) -> None:
    with serve(tmp_path) as front:
        callers = front.callers(2)  # the first reload lasts until they end
        front.running.process.send_signal(signal.SIGHUP)
        until(lambda: _reloads(front) == 1, "the first reload")
        for _ in range(80):
            front.running.process.send_signal(signal.SIGHUP)
            time.sleep(0.001)  # the kernel merges pending signals of one kind
        for caller in callers:
            caller.join(60)
        until(lambda: _reloads(front) == 2, "the reload that waited", 30)
        front.running.process.send_signal(signal.SIGTERM)
        assert front.running.process.wait(30) == 0
        assert _reloads(front) == 2


def _reloads(front: Deployment) -> int:
    return front.running.output().count("is now served")


def test_a_reload_that_waits_for_its_old_workers_does_not_delay_the_end(tmp_path: Path) -> None:
    with serve(tmp_path, "grace: 20s") as front:
        old = set(front.running.workers())
        front.callers(1)
        front.running.process.send_signal(signal.SIGHUP)
        until(lambda: len(set(front.running.workers()) - old) == 2, "new workers")
        front.running.process.send_signal(signal.SIGTERM)
        until(lambda: not _listens(front.running.port), "a closed port", 10)
        assert "does not wait for old workers" in front.running.output()
        os.kill(front.running.process.pid, signal.SIGINT)
        assert front.running.process.wait(10) == 0


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 2).close()
    except ConnectionRefusedError:
        return False
    return True


@pytest.mark.parametrize("sig", some([signal.SIGINT, signal.SIGQUIT, signal.SIGTERM], 1))
def test_a_gateway_whose_workers_are_still_starting_stops_at_once(
    tmp_path: Path, sig: signal.Signals
) -> None:
    """The grace is longer than the test waits: a worker that missed it would use all."""
    config = project(tmp_path, "http://127.0.0.1:9", {"chat": "[]"}, workers=4)
    config = config.replace("workers: 4", "workers: 4, grace: 10m")
    config = with_telemetry(config, "off").replace("{listen}", f"127.0.0.1:{free_port()}")
    (tmp_path / "gateway.yaml").write_text(config)
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            engine("serve"), cwd=tmp_path, env=environment(), stderr=log, start_new_session=True
        )
    running = Running(process, 0, tmp_path / "log")
    try:
        until(lambda: "1 operation on" in running.output(), "a master that listens")
        process.send_signal(sig)
        assert process.wait(30) == 0
        assert "Traceback" not in running.output()
    finally:
        running.stop()
