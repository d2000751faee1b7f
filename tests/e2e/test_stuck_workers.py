"""A worker that computes is not ended, however busy the machine is; one that is stuck is ended,
after its streams were told."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.books import Books
from tests.support.paths import ROOT
from tests.support.ports import free_port
from tests.support.recording import ReceivedRequest, Recorder, Wire, recorder, request
from tests.support.running import ALL, Running, start, with_telemetry
from tests.support.scripted import stream_or_whole
from tests.support.small import chat, project
from tests.support.thorough import scale
from tests.support.waiting import until

PATIENCE = 100.0
EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"w "}}]}\n\n'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
RECORDS = 'stores: {records: "sqlite:///records.db"}'
REQUESTS = scale(6, 20)
MAX_BODY = 2_000_000
LARGE = "x" * 200_000
DENY = "[{deny: {if: {body: {/messages/0/content: {const: never}}}}}]"


class Stream:
    """An upstream whose streams go on until `over` is set; it answers other requests at once."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self._whole = stream_or_whole(0, 0.0)

    def __call__(self, received: ReceivedRequest, sock: socket.socket) -> None:
        if b'"stream": true' not in received.body[:200]:
            self._whole(received, sock)
            return
        sock.sendall(HEAD + EVENT)
        while not self.over.wait(0.1):
            sock.sendall(EVENT)
        sock.sendall(b"data: [DONE]\n\n")
        sock.shutdown(socket.SHUT_RDWR)


class Caller(threading.Thread):
    """The caller of a stream: what arrives, and whether it ended as it should."""

    def __init__(self, port: int, data: bytes) -> None:
        super().__init__(daemon=True)
        self._port, self._data = port, data
        self.body = b""
        self.complete = False

    def run(self) -> None:
        with Wire(self._port) as wire:
            wire.sock.settimeout(PATIENCE)
            wire.send(self._data)
            assert wire.head()[0] == 200
            try:
                for piece in wire.pieces():
                    self.body += piece
                self.complete = True
            except EOFError:
                pass


@contextmanager
def served(
    folder: Path, seconds: int, workers: int = 1
) -> Iterator[tuple[Running, Recorder, Stream]]:
    """A gateway whose watchdog waits for so many seconds."""
    with recorder() as upstream:
        upstream.speak = stream = Stream()
        config = project(folder, upstream.url, {"chat": DENY}, more=RECORDS, workers=workers)
        config = config.replace("workers:", f"max_body: {MAX_BODY // 1_000_000}MB, workers:")
        config = with_telemetry(config, f"127.0.0.1:{free_port()}")
        port = free_port()
        (folder / "gateway.yaml").write_text(config.replace("{listen}", f"127.0.0.1:{port}"))
        program = [sys.executable, "-m", "tests.support.stuck_gateway", str(seconds)]
        environ = {"PYTHONPATH": str(ROOT)}
        running = start([*program, "serve", "-c", "gateway.yaml"], port, folder, environ)
        try:
            until(lambda: len(running.workers()) == workers, "all workers", PATIENCE)
            until(lambda: running.workers(heavy=True), "a heavy worker", PATIENCE)
            upstream.reset()
            upstream.speak = stream
            yield running, upstream, stream
        finally:
            stream.over.set()
            running.stop()


@contextmanager
def busy_processors() -> Iterator[None]:
    """Two programs for each processor that take what they get."""
    program = [sys.executable, "-c", "while True: pass"]
    hogs = [subprocess.Popen(program) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


def stream_of(port: int, user: str = "") -> Caller:
    """The caller of a stream that has begun."""
    caller = Caller(port, chat("chat", stream=True, user=user))
    caller.start()
    until(lambda: caller.body, "an event of the stream", PATIENCE)
    return caller


def large_chat() -> bytes:
    """A request of nearly `max_body`, of which much has to be looked at."""
    messages = [{"role": "user", "content": "hello"}] * ((MAX_BODY - 1000) // 38)
    body = json.dumps({"model": "one", "messages": messages}).encode()
    assert MAX_BODY * 0.9 < len(body) <= MAX_BODY
    return request("/v1/chat/chat/completions", body, token=ALL)


@pytest.mark.timeout(4 * PATIENCE)
def test_requests_of_the_largest_size_end_no_worker_on_a_busy_machine(tmp_path: Path) -> None:
    with served(tmp_path, 2) as (running, _, stream), busy_processors():
        workers = running.workers()
        caller = stream_of(running.port)
        data, statuses = large_chat(), []

        def ask_once() -> None:
            with Wire(running.port) as wire:
                wire.sock.settimeout(PATIENCE)
                wire.send(data)
                statuses.append(wire.answer().status)

        asking = [threading.Thread(target=ask_once, daemon=True) for _ in range(REQUESTS)]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join(PATIENCE)
        assert statuses == [200] * REQUESTS, running.output()[-3000:]
        stream.over.set()
        caller.join(PATIENCE)
        assert caller.complete
        assert running.workers() == workers
        assert "stuck" not in running.output()


@pytest.mark.timeout(4 * PATIENCE)
@pytest.mark.parametrize("how", ["loop", "wait"])
def test_a_stuck_worker_is_ended_after_its_streams_were_told(tmp_path: Path, how: str) -> None:
    with served(tmp_path, 2) as (running, _, _):
        (worker,) = running.workers()
        caller = stream_of(running.port)
        with Wire(running.port) as wire:
            wire.send(request(f"/stuck/{how}", b'{"secret": "sesame"}', token=ALL))
            caller.join(PATIENCE)
        last = caller.body.rpartition(b"data: ")[2]
        assert json.loads(last)["error"]["code"] == "shutting_down"
        until(lambda: Books(tmp_path).outcomes() == Counter({"shutdown": 1}), "its row", PATIENCE)
        until(lambda: running.workers() not in ([], [worker]), "another worker", PATIENCE)
        assert stream_of(running.port).body
        log = running.output()
        assert f"worker {worker} is stuck and ends" in log
        assert re.search(rf"stuck_gateway\.py:\d+ {how}\b", log)
        assert "SIGKILL" not in log
        assert "sesame" not in log
        assert ALL not in log


@pytest.mark.timeout(4 * PATIENCE)
def test_a_stuck_heavy_worker_is_ended_after_its_streams_were_told(tmp_path: Path) -> None:
    with served(tmp_path, 2) as (running, _, stream):
        (heavy,) = running.workers(heavy=True)
        caller, small = stream_of(running.port, LARGE), stream_of(running.port)
        with Wire(running.port) as wire:
            body = json.dumps({"secret": "sesame", "user": LARGE}).encode()
            wire.send(request("/stuck/heavy", body, token=ALL))
            caller.join(PATIENCE)
        last = caller.body.rpartition(b"data: ")[2]
        assert json.loads(last)["error"]["code"] == "shutting_down"
        until(lambda: Books(tmp_path).outcomes()["shutdown"] == 1, "its row", PATIENCE)
        until(lambda: running.workers(heavy=True) not in ([], [heavy]), "another one", PATIENCE)
        stream.over.set()
        small.join(PATIENCE)
        assert small.complete
        log = running.output()
        assert f"worker {heavy} is stuck and ends" in log
        assert re.search(r"stuck_gateway\.py:\d+ loop\b", log)
        assert "SIGKILL" not in log
        assert "sesame" not in log


@pytest.mark.timeout(4 * PATIENCE)
def test_a_worker_stuck_in_c_code_is_killed_and_the_others_serve_on(tmp_path: Path) -> None:
    with served(tmp_path, 2, workers=2) as (running, _, stream):
        workers = set(running.workers())
        with Wire(running.port) as wire:
            wire.send(request("/stuck/native", b'{"secret": "sesame"}', token=ALL))
            caller = stream_of(running.port)
            until(lambda: len(workers & set(running.workers())) == 1, "one is ended", PATIENCE)
        until(lambda: len(running.workers()) == 2, "another worker", PATIENCE)
        stream.over.set()
        caller.join(PATIENCE)
        assert caller.complete
        log = running.output()
        assert "does not end: it is killed" in log
        assert re.search(r"stuck_gateway\.py\W.* in native\b", log)
        assert "sesame" not in log
        assert ALL not in log
