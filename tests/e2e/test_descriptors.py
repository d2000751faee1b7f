"""A worker without free file descriptors answers all requests, and logs it once."""

from __future__ import annotations

import json
import re
import shlex
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from tests.support.ports import free_port
from tests.support.recording import ReceivedRequest, Wire, answer, ask, recorder, request
from tests.support.running import Running, engine, start, with_telemetry
from tests.support.small import COMPLETION, chat, project
from tests.support.waiting import until

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"w "}}]}\n\n'


@contextmanager
def limited(
    folder: Path, hard: int | None = None, server: str = ""
) -> Iterator[tuple[Running, threading.Event]]:
    """A gateway of one worker with a `hard` limit of descriptors, by default a soft one of 256, and
    the event that ends its streams."""
    over = threading.Event()

    def speak(received: ReceivedRequest, sock: socket.socket) -> None:
        if b'"stream": true' not in received.body:
            answer(json.dumps(COMPLETION).encode())(received, sock)
            return
        sock.sendall(HEAD + EVENT)
        over.wait(60)
        sock.shutdown(socket.SHUT_RDWR)

    with recorder() as upstream:
        upstream.speak = speak
        port, telemetry = free_port(), free_port()
        records = 'stores: {records: "sqlite:///records.db"}'
        config = project(folder, upstream.url, {"chat": "[]"}, workers=1, more=records)
        config = config.replace("workers: 1", f"workers: 1{server}")
        config = with_telemetry(config, f"127.0.0.1:{telemetry}")
        (folder / "gateway.yaml").write_text(config.replace("{listen}", f"127.0.0.1:{port}"))
        command = [str(word) for word in engine("serve", "-c", "gateway.yaml")]
        if hard is None:
            command = ["bash", "-c", f"ulimit -Sn 256; exec {shlex.join(command)}"]
        running = start(command, port, folder, warm=hard is not None, descriptors=hard)
        try:
            yield replace(running, telemetry=telemetry), over
        finally:
            over.set()
            running.stop()


def assert_calm(running: Running) -> None:
    output = running.output()
    assert "Traceback" not in output
    assert output.count("short of file descriptors") == 1


def test_idle_connections_make_room_for_requests(tmp_path: Path) -> None:
    with limited(tmp_path, 64) as (running, _), ExitStack() as crowd:
        for _ in range(100):
            crowd.enter_context(socket.create_connection(("127.0.0.1", running.port), 20))
        until(lambda: is_served(running), "a place")  # those that came last are fresh for a moment
        assert Counter(ask(running.port, chat()).status for _ in range(50)) == Counter({200: 50})
        assert_calm(running)


def is_served(running: Running) -> bool:
    return ask(running.port, chat()).status == 200


def test_without_idle_connections_the_answer_is_503_at_once(tmp_path: Path) -> None:
    with limited(tmp_path, 64) as (running, over), ExitStack() as crowd:
        wires = [crowd.enter_context(Wire(running.port)) for _ in range(30)]
        for wire in wires:
            wire.send(chat(stream=True))
        heads = Counter(wire.head()[0] for wire in wires)
        assert set(heads) == {200, 503}
        assert heads[200] >= 9, heads
        refusal = ask(running.port, chat())
        assert refusal.status == 503
        assert refusal.json()["error"]["code"] == "too_many_connections"
        assert refusal.value("retry-after") == "1"
        over.set()
        until(lambda: is_served(running), "a place")
        assert_calm(running)
        assert '"code":"too_many_connections"' in running.output()


def test_a_full_gateway_answers_health_checks(tmp_path: Path) -> None:
    """Otherwise a supervisor would restart a busy gateway."""
    with limited(tmp_path, 64) as (running, _), ExitStack() as crowd:
        wires = [crowd.enter_context(Wire(running.port)) for _ in range(30)]
        for wire in wires:
            wire.send(chat(stream=True))
        assert {wire.head()[0] for wire in wires} == {200, 503}
        address = ("127.0.0.1", running.telemetry)
        for _ in range(20):  # idle connections there do not take those places for good
            crowd.enter_context(socket.create_connection(address, 20))
        for page in ("/healthz", "/readyz", "/metrics"):
            until(lambda page=page: _status(running.telemetry, page) == 200, page)
        assert _status(running.port, "/healthz") == 503
        assert_calm(running)


def _status(port: int, page: str) -> int:
    return ask(port, request(page)).status


def test_connections_beyond_the_configured_number_close_idle_ones_too(tmp_path: Path) -> None:
    with limited(tmp_path, 1024, ", connections: 10") as (running, _), ExitStack() as crowd:
        for _ in range(30):
            crowd.enter_context(socket.create_connection(("127.0.0.1", running.port), 20))
        for _ in range(20):
            assert ask(running.port, chat()).status == 200  # not after the keep-alive time
        assert "short of file descriptors" not in running.output()


def test_the_soft_limit_is_raised_at_the_start(tmp_path: Path) -> None:
    with limited(tmp_path, server=", connections: 500") as (running, _):
        (worker,) = running.workers()
        limit = re.search(r"Max open files +(\d+)", Path(f"/proc/{worker}/limits").read_text())
        assert limit is not None
        assert int(limit[1]) >= 1000
        assert ask(running.port, request("/healthz")).status == 200
