"""The health of targets with several real workers and scripted replicas: what one worker learns
holds for all, and the probes go on when the worker that probes is killed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.crowd import crowd
from tests.support.recording import ReceivedRequest, Recorder, Speak, Wire, answer, ask, recorder
from tests.support.running import Running, gateway
from tests.support.scripted import STALL, script, until_it_leaves
from tests.support.small import COMPLETION, chat, project
from tests.support.waiting import until

GOOD = answer(json.dumps(COMPLETION).encode())
BAD = answer(b'{"error": {"message": "broken"}}', status=503)
WORKERS = 4
DETAILS = b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n"


class Replica:
    """A server whose answers to requests and to probes of `/health` a test sets."""

    def __init__(self, recording: Recorder) -> None:
        self.url = recording.url
        self.requests: Speak = GOOD
        self.probes: Speak = GOOD
        self.counts: Counter[str] = Counter()
        self._recording = recording
        recording.speak = self._speak

    @property
    def connections(self) -> int:
        """How many connections it has accepted."""
        return self._recording.connections

    def _speak(self, received: ReceivedRequest, sock: socket.socket) -> None:
        probe = received.target == "/health"
        self.counts["probes" if probe else "requests"] += 1
        (self.probes if probe else self.requests)(received, sock)


@pytest.fixture
def replicas() -> Iterator[list[Replica]]:
    with ExitStack() as stack:
        yield [Replica(stack.enter_context(recorder())) for _ in range(3)]


@contextmanager
def serving(folder: Path, replicas: list[Replica], options: str) -> Iterator[Running]:
    """A gateway of four workers in front of replicas of one model."""
    text = project(folder, "http://unused.test", {"chat": "[]"}, workers=WORKERS)
    common = 'proxy: "", breaker: {failures: 1000000}, retry: {attempts: 1, budget: 1}'
    upstreams = "".join(
        f'  r{index}: {{url: "{replica.url}/v1", {common}, {options}}}\n'
        for index, replica in enumerate(replicas)
    )
    targets = ", ".join(f"{{upstream: r{index}, model: m}}" for index in range(len(replicas)))
    text = text.replace("models:\n", f"{upstreams}models:\n")
    text = text.replace("one: {to: [{upstream: main}]}", f"one: {{to: [{targets}]}}")
    with gateway(folder, text) as front:
        yield front


def is_reported(front: Running, upstream: str, state: str, reason: str = "") -> bool:
    """Whether the details of each worker say this of the upstream's target, and nothing else."""
    expected = {"upstream": upstream, "target": "one/m", "state": state}
    expected |= {"reason": reason} if reason else {}
    details: dict[int, Any] = {}
    while not details.keys() >= {*front.workers()}:
        details |= {each["worker"]: each for each in details_of_some(front)}
    return all(
        [target for target in each["targets"] if target["upstream"] == upstream] == [expected]
        for each in details.values()
    )


def details_of_some(front: Running) -> list[dict[str, Any]]:
    """The details on connections that are opened at once, so that the workers share them."""
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(front.telemetry)) for _ in range(2 * WORKERS)]
        for wire in wires:
            wire.send(DETAILS)
        return [wire.answer("GET").json() for wire in wires]


def requests_at(replica: Replica, front: Running, count: int = 60) -> int:
    """How many of `count` requests on new connections reach a replica."""
    before = replica.counts["requests"]
    assert crowd([front.port], chat(), count, callers=count) == {200: count}
    return replica.counts["requests"] - before


def test_a_replica_that_fails_is_out_for_all_workers(
    tmp_path: Path, replicas: list[Replica]
) -> None:
    replicas[0].requests = BAD
    with serving(tmp_path, replicas, "ejection: {requests: 5, time: 10m, max_time: 10m}") as front:

        def is_out() -> bool:
            requests_at(replicas[0], front, 20)
            return is_reported(front, "r0", "ejected", "errors")

        until(is_out, "the replica is ejected")
        assert requests_at(replicas[0], front) == 0
        ejections = [line for line in front.output().splitlines() if "is asked last" in line]
        assert len(ejections) == 1  # by one worker


def test_a_replica_that_accepts_and_never_answers_is_out_for_all_workers(
    tmp_path: Path, replicas: list[Replica]
) -> None:
    replicas[0].requests = lambda received, sock: until_it_leaves(sock)
    with serving(tmp_path, replicas, "ejection: {requests: 5, time: 10m, max_time: 10m}") as front:
        callers: list[threading.Thread] = []

        def is_out() -> bool:
            callers.append(threading.Thread(target=call, args=(front.port,)))
            callers[-1].start()
            return is_reported(front, "r0", "ejected", "silence")

        until(is_out, "the replica is ejected")
        assert requests_at(replicas[0], front) == 0
        front.stop()
        for caller in callers:
            caller.join()


def call(port: int) -> None:
    """Send a request; a missing response is no error."""
    with contextlib.suppress(OSError, AssertionError):
        ask(port, chat())


def test_a_replica_without_requests_left_is_asked_last_by_all_workers(
    tmp_path: Path, replicas: list[Replica]
) -> None:
    limits = [f"x-ratelimit-{part}" for part in ("limit-requests: 100", "remaining-requests: 0")]
    replicas[0].requests = answer(
        json.dumps(COMPLETION).encode(),
        ["Content-Type: application/json", *limits, "x-ratelimit-reset-requests: 10m0s"],
    )
    with serving(tmp_path, replicas, "ejection: {max_out: 0}") as front:

        def is_last() -> bool:
            requests_at(replicas[0], front, 5)
            return is_reported(front, "r0", "little left")

        until(is_last, "the replica is asked last")
        assert requests_at(replicas[0], front) == 0


def test_one_worker_probes_and_all_of_them_know_the_result(
    tmp_path: Path, replicas: list[Replica]
) -> None:
    replicas[0].probes = BAD
    health = "health: {path: /health, every: 500ms, timeout: 500ms}, ejection: {slow_start: 0s}"
    with serving(tmp_path, replicas, health) as front:
        until(lambda: replicas[0].counts["probes"] >= 5, "it is probed")
        assert replicas[0].connections == 1
        assert requests_at(replicas[0], front) == 0
        assert is_reported(front, "r0", "failing", "status 503")
        replicas[0].probes = GOOD
        until(lambda: requests_at(replicas[0], front) > 0, "it is healthy again")
        assert "upstream r0 is healthy again" in front.output()


def test_a_probe_whose_body_does_not_end_fails(tmp_path: Path, replicas: list[Replica]) -> None:
    replicas[0].probes = script(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", STALL)
    health = "health: {path: /health, every: 500ms, timeout: 500ms}"
    with serving(tmp_path, replicas, health) as front:
        error = "the body of the answer did not end within the timeout of the probe"
        until(lambda: f"r0 fails its health check: {error}" in front.output(), "it fails")
        assert is_reported(front, "r0", "failing", error)
        assert requests_at(replicas[0], front) == 0


def test_another_worker_probes_when_the_one_that_does_is_killed(
    tmp_path: Path, replicas: list[Replica]
) -> None:
    health = "health: {path: /health, every: 500ms, timeout: 500ms}"
    with serving(tmp_path, replicas, health) as front:
        replica = replicas[0]
        until(lambda: replica.counts["probes"] >= 3, "it is probed")
        for _ in range(2):
            connections = replica.connections
            for pid in probing_workers(front):
                os.kill(pid, signal.SIGKILL)
            until(lambda c=connections: replica.connections > c, "another worker probes")  # type: ignore[misc]
        replica.probes = BAD
        until(lambda: "upstream r0 fails its health check" in front.output(), "it fails")
        assert requests_at(replica, front) == 0


def probing_workers(front: Running) -> list[int]:
    """The process ids of the workers that do a task for the machine: they hold its lock."""

    def target(link: str) -> str:
        try:
            return os.readlink(link)
        except FileNotFoundError:  # the descriptor was closed since the folder was listed
            return ""

    def holds_a_task(pid: int) -> bool:
        links = (f"/proc/{pid}/fd/{name}" for name in os.listdir(f"/proc/{pid}/fd"))
        return any("/machine/task." in target(link) for link in links)

    return [pid for pid in front.workers() + front.workers(heavy=True) if holds_a_task(pid)]
