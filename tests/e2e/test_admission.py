"""Bounds of requests in flight and their queues, with real workers."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from engine.values.caller import digest
from tests.support.crowd import crowd
from tests.support.recording import (
    ReceivedRequest,
    Recorder,
    Wire,
    answer,
    ask,
    assert_error,
    recorder,
)
from tests.support.running import Running, gateway
from tests.support.small import COMPLETION, chat, project
from tests.support.waiting import until

PLACES = 8
LOW = "mw-" + "d" * 64
HIGH = "mw-" + "e" * 64
TOKENS = f"""
  - {{name: low, sha256: {digest(LOW)}, priority: low}}
  - {{name: high, sha256: {digest(HIGH)}, priority: high}}
"""
WHOLE_ANSWER = answer(json.dumps(COMPLETION).encode())


class Level:
    """An upstream's answers: how many requests it has at one time, and how many at most. While it
    is `holding`, it answers none. An answer takes a few milliseconds."""

    def __init__(self) -> None:
        self.now = self.highest = 0
        self._lock = threading.Lock()
        self._open = threading.Event()
        self._open.set()

    def __call__(self, received: ReceivedRequest, sock: socket.socket) -> None:
        with self._lock:
            self.now += 1
            self.highest = max(self.highest, self.now)
        self._open.wait()
        time.sleep(0.005)
        with self._lock:
            self.now -= 1
        WHOLE_ANSWER(received, sock)

    @contextmanager
    def holding(self) -> Iterator[None]:
        self._open.clear()
        try:
            yield
        finally:
            self.release()

    def release(self) -> None:
        """Answer from now on."""
        self._open.set()


@pytest.fixture(scope="module")
def upstream() -> Iterator[Recorder]:
    with recorder() as recording:
        yield recording


@pytest.fixture
def level(upstream: Recorder) -> Level:
    upstream.reset()
    upstream.speak = level = Level()
    return level


def config(folder: Path, url: str, bound: str, workers: int = 4, model: str = "main") -> str:
    """A small gateway whose upstream `main` is bounded."""
    text = project(folder, url, {"chat": "[]"}, more=TOKENS, workers=workers)
    text = text.replace("main: {url", f"main: {{{bound}, url")
    return text.replace("one: {to: [{upstream: main}]}", f"one: {{to: [{{upstream: {model}}}]}}")


@contextmanager
def waiting(port: int, count: int, data: bytes) -> Iterator[list[Wire]]:
    """Requests that were sent and are not answered yet."""
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(port)) for _ in range(count)]
        for wire in wires:
            wire.send(data)
        yield wires


def figure(front: Running, name: str, **labels: str) -> float:
    """The sum of a metric's samples with these labels."""
    total = 0.0
    for line in ask(front.telemetry, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").body.splitlines():
        text = line.decode()
        if text.startswith(f"{name}{{") and all(f'{k}="{v}"' in text for k, v in labels.items()):
            total += float(text.rpartition(" ")[2])
    return total


def test_four_workers_send_no_more_than_eight_requests_and_all_callers_are_answered(
    tmp_path: Path, upstream: Recorder, level: Level
) -> None:
    bound = f"max_in_flight: {PLACES}, queue: {{size: 200, wait: 30s}}"
    with gateway(tmp_path, config(tmp_path, upstream.url, bound)) as front:
        statuses = crowd([front.port], chat(), 400, callers=200)
        assert statuses == {200: 400}
        with level.holding(), waiting(front.port, PLACES + 9, chat()):
            until(lambda: level.now == PLACES, "every place is free again")
            until(lambda: figure(front, "modelway_queue_waiting") == 9, "the others wait")
        assert level.highest == PLACES


def test_a_killed_worker_gives_its_places_back(
    tmp_path: Path, upstream: Recorder, level: Level
) -> None:
    with (
        gateway(tmp_path, config(tmp_path, upstream.url, f"max_in_flight: {PLACES}")) as front,
        level.holding(),
        waiting(front.port, PLACES, chat()) as wires,
    ):
        until(lambda: level.now == PLACES, "all places are taken")
        assert_error(ask(front.port, chat()), 429, "upstream_busy")
        pid = worker_with_requests(front, level)
        os.kill(pid, signal.SIGKILL)
        until(lambda: not Path(f"/proc/{pid}").exists(), "the end of the worker")
        count = until(lambda: sum(is_closed(wire.sock) for wire in wires), "its callers are cut")
        with waiting(front.port, count, chat()):
            until(lambda: level.now == PLACES + count, "its places are taken by others")
            assert_error(ask(front.port, chat()), 429, "upstream_busy")


def worker_with_requests(front: Running, level: Level) -> int:
    """The process id of the worker with most connections."""
    return max(front.workers(), key=lambda pid: len(os.listdir(f"/proc/{pid}/fd")))


def is_closed(sock: socket.socket) -> bool:
    sock.setblocking(False)
    try:
        return sock.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


def test_a_full_queue_is_a_429_with_retry_after(
    tmp_path: Path, upstream: Recorder, level: Level
) -> None:
    bound = "max_in_flight: 1, queue: {size: 1, wait: 30s}"
    with (
        gateway(tmp_path, config(tmp_path, upstream.url, bound)) as front,
        level.holding(),
        waiting(front.port, 1, chat()),
    ):
        until(lambda: level.now == 1, "the place is taken")
        with waiting(front.port, 1, chat()):
            until(lambda: figure(front, "modelway_queue_waiting") == 1, "one waits")
            refusal = ask(front.port, chat())
            assert_error(refusal, 429, "upstream_busy")
            assert int(refusal.value("retry-after")) >= 1


def test_a_wait_that_takes_too_long_is_a_429(
    tmp_path: Path, upstream: Recorder, level: Level
) -> None:
    bound = "max_in_flight: 1, queue: {size: 1, wait: 50ms}"
    with (
        gateway(tmp_path, config(tmp_path, upstream.url, bound)) as front,
        level.holding(),
        waiting(front.port, 1, chat()),
    ):
        until(lambda: level.now == 1, "the place is taken")
        assert_error(ask(front.port, chat()), 429, "upstream_busy")


def test_a_full_target_leads_to_the_next_one_first(
    tmp_path: Path, upstream: Recorder, level: Level
) -> None:
    bound = "max_in_flight: 1, queue: {size: 9, wait: 30s}"
    model = "main, weight: 1000000}, {upstream: other"
    with (
        gateway(tmp_path, config(tmp_path, upstream.url, bound, model=model)) as front,
        level.holding(),
        waiting(front.port, 3, chat()),
    ):
        until(lambda: level.now == 3, "one at the first target, two at the second")


def test_low_priority_is_shed_first_and_high_priority_served_first(
    tmp_path: Path, upstream: Recorder, level: Level
) -> None:
    bound = "max_in_flight: 1, queue: {size: 2, wait: 30s}"
    with gateway(tmp_path, config(tmp_path, upstream.url, bound)) as front, ExitStack() as stack:
        stack.enter_context(level.holding())
        stack.enter_context(waiting(front.port, 1, chat()))
        until(lambda: level.now == 1, "the place is taken")
        low = stack.enter_context(waiting(front.port, 2, chat(token=LOW)))
        until(lambda: figure(front, "modelway_queue_waiting") == 2, "both wait")
        high = stack.enter_context(waiting(front.port, 1, chat(token=HIGH)))
        shed = until(
            lambda: [wire for wire in low if has_answer(wire.sock)], "one of them is refused"
        )
        assert [wire.answer().status for wire in shed] == [429]
        assert not has_answer(high[0].sock)
        level.release()
        assert high[0].answer().status == 200


def has_answer(sock: socket.socket) -> bool:
    return bool(select.select([sock], [], [], 0)[0])


def test_a_caller_who_leaves_while_he_waits_frees_his_place_in_the_queue(
    tmp_path: Path, upstream: Recorder, level: Level
) -> None:
    bound = "max_in_flight: 1, queue: {size: 1, wait: 10m}"
    with (
        gateway(tmp_path, config(tmp_path, upstream.url, bound)) as front,
        level.holding(),
        waiting(front.port, 1, chat()),
    ):
        until(lambda: level.now == 1, "the place is taken")
        with waiting(front.port, 1, chat()):
            until(lambda: figure(front, "modelway_queue_waiting") == 1, "one waits")
        until(lambda: figure(front, "modelway_queue_waiting") == 0, "he left")


def test_the_end_of_a_gateway_wakes_those_who_wait_with_a_503(
    tmp_path: Path, upstream: Recorder, level: Level
) -> None:
    bound = "max_in_flight: 1, queue: {size: 9, wait: 30s}"
    text = config(tmp_path, upstream.url, bound).replace("workers: 4", "workers: 1, grace: 1s")
    with (
        gateway(tmp_path, text) as front,
        level.holding(),
        waiting(front.port, 1, chat()),
    ):
        until(lambda: level.now == 1, "the place is taken")
        with waiting(front.port, 2, chat()) as wires:
            until(lambda: figure(front, "modelway_queue_waiting") == 2, "both wait")
            front.process.send_signal(signal.SIGTERM)
            for wire in wires:
                assert_error(wire.answer(), 503, "shutting_down")


def test_the_time_in_the_queue_is_in_the_access_log(
    tmp_path: Path, upstream: Recorder, level: Level
) -> None:
    bound = "max_in_flight: 1, queue: {size: 1, wait: 30s}"
    with gateway(tmp_path, config(tmp_path, upstream.url, bound, workers=1)) as front:
        with level.holding(), waiting(front.port, 1, chat()):
            until(lambda: level.now == 1, "the place is taken")
            with waiting(front.port, 1, chat()) as wires:
                until(lambda: figure(front, "modelway_queue_waiting") == 1, "one waits")
                level.release()
                assert wires[0].answer().status == 200
        until(lambda: any(line["queue"] > 0 for line in waits(front)), "the line of the log")


def waits(front: Running) -> list[dict[str, float]]:
    """The lines of the access log about requests that waited."""
    lines = (json.loads(line) for line in front.output().splitlines() if line.startswith("{"))
    return [line for line in lines if "queue" in line]
