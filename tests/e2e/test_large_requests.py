"""Requests with large bodies are served by processes of their own."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from engine.telemetry.metrics.storage.folder import folder_of
from tests.support.recording import (
    HttpAnswer,
    ReceivedRequest,
    Recorder,
    Wire,
    answer,
    ask,
    assert_error,
    recorder,
    request,
)
from tests.support.running import ALL, Running, gateway
from tests.support.scripted import CLOSE, script
from tests.support.small import COMPLETION, chat, project
from tests.support.waiting import PATIENCE, until

HEAVY = "heavy: {processes: 1, above: 1KB, queue: 2}"
FILLING = "x" * 2_000
EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"w "}}]}\n\n'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


@pytest.fixture(scope="module")
def upstream() -> Iterator[Recorder]:
    with recorder() as upstream:
        yield upstream


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, upstream: Recorder) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("large")
    text = project(
        folder, upstream.url, {"chat": "[]", "counted": "[rate_limit: {requests: 5, per: 1h}]"}
    )
    text = text.replace("workers: 2", f"workers: 1, max_body: 1MB, drain: {{grace: 30s}}, {HEAVY}")
    with gateway(folder, text) as running:
        yield running


@pytest.fixture
def running(shared: Running, upstream: Recorder) -> Iterator[Running]:
    upstream.reset()
    upstream.speak = answer(json.dumps(COMPLETION).encode())
    yield shared
    upstream.speak = answer(json.dumps(COMPLETION).encode())
    until(lambda: ask(shared.port, large()).status == 200, "a heavy worker")
    assert ask(shared.port, chat()).status == 200


def large(model: str = "one", size: int = 2_000, **more: object) -> bytes:
    return chat(model=model, user="x" * size, **more)


class HoldingUpstream:
    """An upstream whose answers to large requests wait until they are let go."""

    def __init__(self, upstream: Recorder) -> None:
        self.go = threading.Event()
        self.arrived = threading.Semaphore(0)
        upstream.speak = self._speak

    def _speak(self, received: ReceivedRequest, sock: socket.socket) -> None:
        if len(received.body) > 1_000:
            self.arrived.release()
            self.go.wait(PATIENCE)
        answer(json.dumps(COMPLETION).encode())(received, sock)


def accepts(running: Running) -> bool:
    try:
        Wire(running.port).close()
    except OSError:
        return False
    return True


def heavy_of(running: Running) -> int:
    (pid,) = running.workers(heavy=True)
    return pid


def test_a_connection_carries_small_and_large_requests(
    running: Running, upstream: Recorder
) -> None:
    with Wire(running.port) as wire:
        wire.send(chat() + large() + chat() + large(size=200_000))
        answers = [wire.answer() for _ in range(4)]
    assert [(each.status, each.closed) for each in answers] == [(200, False)] * 4
    assert [len(each.body) > 2_000 for each in upstream.requests] == [False, True, False, True]


def test_all_workers_are_interrupted_while_they_compute(running: Running) -> None:
    (worker,) = running.workers()

    def is_interrupted(pid: int) -> bool:
        (mask,) = re.findall(r"^SigCgt:\s*(\w+)$", status_of(pid), re.MULTILINE)
        return bool(int(mask, 16) >> (signal.SIGPROF - 1) & 1)

    assert [is_interrupted(pid) for pid in (worker, heavy_of(running))] == [True, True]


def status_of(pid: int) -> str:
    return Path(f"/proc/{pid}/status").read_text()


def test_a_large_request_waits_in_no_worker(running: Running, upstream: Recorder) -> None:
    (worker,) = running.workers()
    waiting = HoldingUpstream(upstream)
    with Wire(running.port) as wire:
        wire.send(large())
        assert waiting.arrived.acquire(timeout=PATIENCE)
        os.kill(worker, signal.SIGKILL)
        waiting.go.set()
        assert wire.answer().status == 200
    until(lambda: running.workers() not in ([], [worker]), "another worker")


def test_a_body_in_chunks(running: Running, upstream: Recorder) -> None:
    head, _, body = large().partition(b"\r\n\r\n")
    head = b"\r\n".join(
        line for line in head.split(b"\r\n") if not line.startswith(b"Content-Length")
    )
    with Wire(running.port) as wire:
        wire.send(head + b"\r\nTransfer-Encoding: chunked\r\n\r\n")
        for piece in (body[:100], body[100:]):
            wire.send(b"%x\r\n%s\r\n" % (len(piece), piece))
        wire.send(b"0\r\n\r\n")
        assert wire.answer().status == 200
    assert upstream.last.body == body


def test_100_continue_comes_from_the_process_that_reads_the_body(running: Running) -> None:
    head, _, body = large().partition(b"\r\n\r\n")
    with Wire(running.port) as wire:
        wire.send(head + b"\r\nExpect: 100-continue\r\n\r\n")
        assert wire.sock.recv(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
        wire.send(body)
        assert wire.answer().status == 200


@pytest.mark.parametrize(
    ("data", "status", "code"),
    [
        (chat(token="mw-unknown", user=FILLING), 401, "invalid_api_key"),
        (large(model="three"), 404, "model_not_found"),
        (large(max_tokens="many"), 400, "invalid_type"),
        (large()[:-1] + b"!", 400, "invalid_json"),
        (large(size=1_000_000), 413, "request_too_large"),
        (request("/v1/nothing", FILLING.encode(), token=ALL), 404, "not_found"),
    ],
    ids=["token", "model", "value", "JSON", "size", "path"],
)
def test_refusals_are_those_of_small_requests(
    running: Running, data: bytes, status: int, code: str
) -> None:
    assert_error(ask(running.port, data), status, code)


def test_limits_count_the_requests_of_all_processes(running: Running) -> None:
    statuses = [
        ask(running.port, chat("counted", user=filling)).status
        for filling in ("", FILLING, "", FILLING, "", FILLING, "")
    ]
    assert statuses == [200] * 5 + [429] * 2


def test_a_heavy_worker_that_is_killed_costs_its_requests_a_500(
    running: Running, upstream: Recorder
) -> None:
    waiting, heavy = HoldingUpstream(upstream), heavy_of(running)
    with Wire(running.port) as wire:
        wire.send(large())
        assert waiting.arrived.acquire(timeout=PATIENCE)
        os.kill(heavy, signal.SIGKILL)
        assert_error(wire.answer(), 500, "internal_error")
        waiting.go.set()
    assert ask(running.port, chat()).status == 200
    until(lambda: running.workers(heavy=True) not in ([], [heavy]), "another heavy worker")


def test_a_large_request_waits_for_the_next_heavy_worker(running: Running) -> None:
    os.kill(heavy_of(running), signal.SIGKILL)
    assert ask(running.port, large()).status in (200, 500, 503)
    until(lambda: ask(running.port, large()).status == 200, "the next heavy worker")


def test_a_stream_breaks_off_with_its_heavy_worker(running: Running, upstream: Recorder) -> None:
    go = threading.Event()
    upstream.speak = script(HEAD, EVENT, go, CLOSE)
    with Wire(running.port) as wire:
        wire.send(large(stream=True))
        status, _ = wire.head()
        next(wire.pieces())
        os.kill(heavy_of(running), signal.SIGKILL)
        assert (status, b"[DONE]" in wire.rest()) == (200, False)
        go.set()


def test_a_caller_who_leaves_is_noticed(running: Running, upstream: Recorder) -> None:
    waiting = HoldingUpstream(upstream)
    with Wire(running.port) as wire:
        wire.send(large())
        assert waiting.arrived.acquire(timeout=PATIENCE)
    until(lambda: '"outcome":"caller_left"' in running.output(), "the caller's leave")
    waiting.go.set()


def test_slow_uploads_keep_nobody_out(running: Running) -> None:
    with ExitStack() as stack:
        for _ in range(5):
            wire = stack.enter_context(Wire(running.port))
            wire.send(large()[:-10])
        assert ask(running.port, large()).status == 200


def test_requests_beyond_the_queue_get_a_503(running: Running) -> None:
    """Their last bytes arrive while the first of them is parsed."""
    data = chat(user=["x"] * 150_000)

    def burst() -> list[HttpAnswer]:
        with ExitStack() as stack:
            wires = [stack.enter_context(Wire(running.port)) for _ in range(12)]
            for wire in wires:
                wire.send(data[:-1])
            for wire in wires:
                wire.send(data[-1:])
            answers = [wire.answer() for wire in wires]
        return [each for each in answers if each.status == 503]

    refusals = until(burst, "a full queue")
    assert_error(refusals[0], 503, "too_many_large_requests")
    assert refusals[0].value("retry-after") == "1"


def test_a_large_request_in_progress_ends_before_a_gateway_that_stops(
    tmp_path: Path, upstream: Recorder
) -> None:
    text = project(tmp_path, upstream.url, {"chat": "[]"})
    text = text.replace("workers: 2", f"workers: 2, {HEAVY}")
    with gateway(tmp_path, text) as running:
        waiting = HoldingUpstream(upstream)
        with Wire(running.port) as wire:
            wire.send(large())
            assert waiting.arrived.acquire(timeout=PATIENCE)
            running.process.send_signal(signal.SIGTERM)
            until(lambda: not accepts(running), "the end of new connections")
            waiting.go.set()
            assert wire.answer().status == 200
        assert running.process.wait(PATIENCE) == 0
        assert "Traceback" not in running.output()


def test_fewer_processes_leave_one_of_each_kind(tmp_path: Path, upstream: Recorder) -> None:
    upstream.speak = answer(json.dumps(COMPLETION).encode())
    text = project(tmp_path, upstream.url, {"chat": "[]"})
    text = text.replace("workers: 2", f"workers: 2, {HEAVY}")
    with gateway(tmp_path, text) as running:
        for _ in range(4):
            running.process.send_signal(signal.SIGTTOU)
        until(lambda: len(running.workers()) == 1, "one worker")
        assert [ask(running.port, data).status for data in (chat(), large())] == [200, 200]
        assert (len(running.workers()), len(running.workers(heavy=True))) == (1, 1)


def test_a_large_request_in_progress_ends_on_a_reload(tmp_path: Path, upstream: Recorder) -> None:
    text = project(tmp_path, upstream.url, {"chat": "[]"})
    text = text.replace("workers: 2", f"workers: 2, {HEAVY}")
    with gateway(tmp_path, text) as running:
        old, waiting = heavy_of(running), HoldingUpstream(upstream)
        with Wire(running.port) as wire:
            wire.send(large())
            assert waiting.arrived.acquire(timeout=PATIENCE)
            config = tmp_path / "gateway.yaml"
            config.write_text(
                config.read_text().replace(
                    "models:\n", "models:\n  new: {to: [{upstream: main}]}\n"
                )
            )
            running.process.send_signal(signal.SIGHUP)
            until(lambda: ask(running.port, chat(model="new")).status == 200, "the new config")
            waiting.go.set()
            assert wire.answer().status == 200
        # An old worker may still accept a connection.
        until(lambda: ask(running.port, large(model="new")).status == 200, "the new config")
        until(lambda: old not in running.workers(heavy=True), "the end of the old heavy worker")
        until(lambda: len(running.workers(heavy=True)) == 1, "one heavy worker")
        assert "Traceback" not in running.output()


def test_a_heavy_worker_that_cannot_start_to_serve_is_replaced(
    tmp_path: Path, upstream: Recorder
) -> None:
    upstream.speak = answer(json.dumps(COMPLETION).encode())
    text = project(tmp_path, upstream.url, {"chat": "[]"})
    text = text.replace("workers: 2", f"workers: 2, {HEAVY}")
    with gateway(tmp_path, text) as running:
        pid, heavy = running.process.pid, heavy_of(running)
        (folder,) = folder_of(pid).parent.glob(f"modelway-metrics-*-{pid}-*")
        away = folder.rename(folder.with_name(f"hidden-{folder.name}"))
        folder.touch()
        assert_error(ask(running.port, large()), 503, "too_many_large_requests")
        until(lambda: running.workers(heavy=True) not in ([], [heavy]), "another heavy worker")
        assert ask(running.port, chat()).status == 200
        folder.unlink()
        away.rename(folder)
        until(lambda: ask(running.port, large()).status == 200, "it can serve again")
        assert "a heavy worker cannot serve: modelway: " in running.output()
        assert "Traceback" not in running.output()


def test_without_heavy_processes_workers_serve_all_requests(
    tmp_path: Path, upstream: Recorder
) -> None:
    upstream.speak = answer(json.dumps(COMPLETION).encode())
    text = project(tmp_path, upstream.url, {"chat": "[]"})
    text = text.replace("workers: 2", "workers: 2, heavy: {processes: 0, above: 1KB}")
    with gateway(tmp_path, text) as running:
        assert ask(running.port, large()).status == 200
        assert (len(running.workers()), running.workers(heavy=True)) == (2, [])
