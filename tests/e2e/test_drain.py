"""A stopping gateway reports itself unready, then stops accepting, then drains its requests."""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.ports import free_port
from tests.support.recording import (
    HttpAnswer,
    Recorder,
    Wire,
    ask,
    recorder,
    request,
)
from tests.support.running import gateway, start, with_telemetry
from tests.support.scripted import stream_or_whole
from tests.support.small import chat, project
from tests.support.thorough import some
from tests.support.waiting import until

DRAIN = "drain: {delay: 2s, grace: 120s}"  # a busy machine sends a stream slowly


@pytest.fixture
def upstream() -> Iterator[Recorder]:
    with recorder() as recording:
        recording.speak = stream_or_whole(60, 0.1)  # six seconds
        yield recording


def config(folder: Path, upstream: Recorder, server: str = DRAIN) -> str:
    text = project(folder, upstream.url, {"chat": "[]"})
    return text.replace("workers: 2", f"workers: 2, {server}")


@contextmanager
def open_stream(port: int) -> Iterator[Iterator[bytes]]:
    """The rest of a stream of which the first event has come."""
    with Wire(port) as wire:
        wire.send(chat("chat", stream=True))
        assert wire.head()[0] == 200
        pieces = wire.pieces()
        next(pieces)
        yield pieces


def get(port: int, path: str = "/readyz") -> HttpAnswer | None:
    """The response, or None if the port is closed."""
    try:
        return ask(port, request(path))
    except ConnectionRefusedError:
        return None


def refuses_connections(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 5).close()
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:  # the socket was closed in that moment
        return False
    return False


def keep_alive(wire: Wire) -> str:
    """Send a request on a keep-alive connection; the header `Connection` of the response."""
    wire.send(chat("chat"))
    status, headers = wire.head()
    assert status == 200
    wire.body(int(dict(headers)["content-length"]))
    return dict(headers).get("connection", "")


def test_in_the_delay_readiness_is_false_and_connections_are_accepted(
    tmp_path: Path, upstream: Recorder
) -> None:
    with gateway(tmp_path, config(tmp_path, upstream)) as front, Wire(front.port) as kept_wire:
        assert keep_alive(kept_wire) != "close"
        front.process.send_signal(signal.SIGTERM)
        readiness = until(
            lambda: (page := get(front.telemetry)) is not None and page.status == 503 and page,
            "readiness that turns false",
        )
        assert readiness.json()["status"] == "stopping"
        fresh = ask(front.port, chat("chat"))
        assert (fresh.status, fresh.values("connection")) == (200, ["close"])
        assert keep_alive(kept_wire) == "close"
        until(lambda: refuses_connections(front.port), "no more connections")
        assert front.process.wait(10) == 0


def test_metrics_and_health_are_served_until_the_last_stream_has_ended(
    tmp_path: Path, upstream: Recorder
) -> None:
    with gateway(tmp_path, config(tmp_path, upstream)) as front, open_stream(front.port) as events:
        front.process.send_signal(signal.SIGTERM)
        until(lambda: refuses_connections(front.port), "no more connections")
        page = get(front.telemetry)
        metrics = get(front.telemetry, "/metrics")
        assert page is not None
        assert metrics is not None
        assert (page.status, metrics.status) == (503, 200)
        assert list(events)[-1] == b"data: [DONE]\n\n"
        assert front.process.wait(10) == 0


def test_a_reload_has_no_delay_and_the_gateway_remains_ready(
    tmp_path: Path, upstream: Recorder
) -> None:
    with gateway(tmp_path, config(tmp_path, upstream)) as front, open_stream(front.port) as events:
        old = set(front.workers())
        path = tmp_path / "gateway.yaml"
        path.write_text(path.read_text().replace("main}]", "main, weight: 2}]"))
        front.process.send_signal(signal.SIGHUP)
        pages: list[HttpAnswer | None] = []
        until(
            lambda: pages.append(get(front.telemetry)) or len(old & set(front.workers())) == 1,
            "one old worker, that of the stream",
            patience=150,  # new workers start, beside what else the machine does
        )
        pages += [get(front.telemetry) for _ in range(20)]
        assert {page and page.status for page in pages} == {200}
        assert list(events)[-1] == b"data: [DONE]\n\n"


def test_a_second_interrupt_ends_the_delay(tmp_path: Path, upstream: Recorder) -> None:
    text = config(tmp_path, upstream, "drain: {delay: 10m, grace: 20s}")
    with gateway(tmp_path, text) as front:
        front.process.send_signal(signal.SIGTERM)
        until(lambda: get(front.telemetry) and get(front.telemetry).status == 503, "the delay")
        front.process.send_signal(signal.SIGINT)
        assert front.process.wait(10) == 0


def test_a_unix_socket_can_be_connected_to_in_the_delay(tmp_path: Path, upstream: Recorder) -> None:
    path = tmp_path / "api.sock"
    telemetry = free_port()
    text = with_telemetry(config(tmp_path, upstream), f"127.0.0.1:{telemetry}")
    (tmp_path / "gateway.yaml").write_text(text.replace("{listen}", f"unix:{path}"))
    front = start(
        [sys.executable, "-m", "engine", "serve", "-c", "gateway.yaml"], telemetry, tmp_path
    )
    try:
        front.process.send_signal(signal.SIGTERM)
        until(lambda: get(telemetry) and get(telemetry).status == 503, "the delay")
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(str(path))
            sock.sendall(chat("chat"))
            assert sock.recv(65536).startswith(b"HTTP/1.1 200")
        assert front.process.wait(10) == 0
        assert not path.exists()
    finally:
        front.stop()


@pytest.mark.parametrize("worker", some(["engine.server.worker.Worker", "gevent"], 1))
def test_a_gunicorn_of_ones_own_has_the_delay_too(
    tmp_path: Path, upstream: Recorder, worker: str
) -> None:
    port, telemetry = free_port(), free_port()
    text = with_telemetry(config(tmp_path, upstream), f"127.0.0.1:{telemetry}")
    (tmp_path / "gateway.yaml").write_text(text.replace("{listen}", "127.0.0.1:1"))
    command = [sys.executable, "-m", "gunicorn", "-k", worker, "-w", "2"]
    binds = ["-b", f"127.0.0.1:{port}", "-b", f"127.0.0.1:{telemetry}"]
    options = [*binds, "--graceful-timeout", "22", "engine.wsgi:app"]
    front = start([*command, *options], port, tmp_path, {"MODELWAY_CONFIG": "gateway.yaml"})
    try:
        old = set(front.workers())
        front.process.send_signal(signal.SIGHUP)
        pages: list[HttpAnswer | None] = []
        until(
            lambda: pages.append(get(telemetry)) or not old & set(front.workers()),
            "new workers alone",
        )
        assert {page and page.status for page in pages} == {200}
        front.process.send_signal(signal.SIGTERM)
        until(lambda: get(telemetry) and get(telemetry).status == 503, "the delay")
        assert ask(port, chat("chat")).status == 200
        until(lambda: refuses_connections(port), "no more connections")
        assert front.process.wait(10) == 0
    finally:
        front.stop()
