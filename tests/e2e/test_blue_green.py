"""Two gateways on one machine: the second takes over while the first drains its requests."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.crowd import traffic
from tests.support.ports import free_port
from tests.support.recording import Recorder, Wire, recorder
from tests.support.running import Running, engine, start, with_telemetry
from tests.support.scripted import stream_or_whole
from tests.support.small import chat, project
from tests.support.thorough import scale

STREAMS = scale(24, 200)
EVENTS = 6


class Streams:
    """Callers that read one stream after another; `ends` counts how the streams ended."""

    def __init__(self, port: int, callers: int) -> None:
        self.ends: Counter[str] = Counter()
        self._port = port
        self._ending = threading.Event()
        self._threads = [threading.Thread(target=self._call) for _ in range(callers)]
        for thread in self._threads:
            thread.start()

    def _call(self) -> None:
        while not self._ending.is_set():
            try:
                with Wire(self._port) as wire:
                    wire.sock.settimeout(60)
                    wire.send(chat("chat", stream=True))
                    status, _ = wire.head()
                    events = b"".join(wire.pieces()).decode().split("\n\n")[:-1]
                    self.ends[f"{status}, {len(events)} events, last {events[-1]}"] += 1
            except (OSError, EOFError, AssertionError) as error:
                self.ends[repr(error)] += 1

    def end(self) -> None:
        self._ending.set()
        for thread in self._threads:
            thread.join(60)


@contextmanager
def machine(folder: Path) -> Iterator[tuple[Recorder, socket.socket, int]]:
    """The upstream, the socket that systemd would pass, and its port; the config takes the address
    of its telemetry from METRICS."""
    with recorder() as upstream, socket.socket() as listening:
        upstream.speak = stream_or_whole(EVENTS, 0.5)  # three seconds
        port = free_port()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen(2048)
        text = project(folder, upstream.url, {"chat": "[{rate_limit: {requests: 9e6, per: 1h}}]"})
        text = with_telemetry(text, "127.0.0.1:${METRICS}")
        text = text.replace("{listen}", f"127.0.0.1:{port}")
        text = text.replace("workers: 2", "workers: 2, grace: 60s")
        (folder / "gateway.yaml").write_text(text + 'stores: {records: "sqlite:///records.db"}\n')
        yield upstream, listening, port


def gateway(folder: Path, listening: socket.socket) -> Running:
    """One of the gateways, once its own readiness page answers."""
    metrics = free_port()
    command = engine("serve", "-c", "gateway.yaml")
    return start(command, metrics, folder, {"METRICS": str(metrics)}, passed=listening)


def test_gateways_that_take_turns_under_streams_lose_no_request(tmp_path: Path) -> None:
    with machine(tmp_path) as (_, listening, port):
        current = gateway(tmp_path, listening)
        processes = [current]
        try:
            streams = Streams(port, STREAMS)
            with traffic(port, chat("chat")) as callers:
                time.sleep(1)
                for _ in range(2):
                    following = gateway(tmp_path, listening)
                    processes.append(following)
                    current.process.send_signal(signal.SIGTERM)
                    assert current.process.wait(60) == 0
                    current = following
            streams.end()
            assert set(streams.ends) == {f"200, {EVENTS + 1} events, last data: [DONE]"}
            assert streams.ends.total() >= STREAMS
            assert set(callers.ids) == {200}
            assert callers.lost == 0
            assert all("Traceback" not in process.output() for process in processes)
        finally:
            for process in processes:
                process.stop()


def test_both_gateways_count_limits_together(tmp_path: Path) -> None:
    with machine(tmp_path) as (_, listening, port):
        path = tmp_path / "gateway.yaml"
        path.write_text(path.read_text().replace("requests: 9e6", "requests: 20"))
        both = [gateway(tmp_path, listening) for _ in range(2)]
        try:
            statuses: Counter[int] = Counter()
            for _ in range(40):
                with Wire(port) as wire:
                    wire.send(chat("chat"))
                    statuses[wire.head()[0]] += 1
            assert statuses == {200: 20, 429: 20}
        finally:
            for process in both:
                process.stop()
