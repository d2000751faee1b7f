"""A heavy worker that is killed under load costs its own requests, and no row of the ledger."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.books import Books
from tests.support.recording import Wire, answer, recorder
from tests.support.running import Running, gateway
from tests.support.small import COMPLETION, chat, project
from tests.support.waiting import until

KILLS = 3
LARGE_CALLERS = 2


class Caller(threading.Thread):
    """Sends one request after the other until it is stopped. `answered` are the ids of the requests
    by their status; `broken` counts connections that broke off."""

    def __init__(self, port: int, data: bytes) -> None:
        super().__init__(daemon=True)
        self._port, self._data = port, data
        self.answered: dict[int, list[str]] = {}
        self.broken = 0
        self.stopped = threading.Event()

    def run(self) -> None:
        while not self.stopped.is_set():
            try:
                with Wire(self._port) as wire:
                    wire.send(self._data)
                    response = wire.answer()
            except (AssertionError, EOFError, OSError):  # as Wire tells a connection that ended
                self.broken += 1
                continue
            request_id = response.value("x-request-id")
            assert request_id is not None
            self.answered.setdefault(response.status, []).append(request_id)

    def count(self, status: int) -> int:
        return len(self.answered.get(status, ()))


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    with recorder() as upstream:
        upstream.speak = answer(json.dumps(COMPLETION).encode())
        records = 'stores: {records: "sqlite:///records.db"}'
        text = project(tmp_path, upstream.url, {"chat": "[]"}, more=records, workers=1)
        text = text.replace("workers: 1", "workers: 1, heavy: {processes: 1, above: 1KB}")
        with gateway(tmp_path, text) as running:
            yield running


def test_it_costs_the_requests_in_it_and_no_row(running: Running, tmp_path: Path) -> None:
    small = [Caller(running.port, chat()) for _ in range(2)]
    large = [Caller(running.port, chat(user="x" * 100_000)) for _ in range(LARGE_CALLERS)]
    for caller in (*small, *large):
        caller.start()
    for _ in range(KILLS):
        served = [caller.count(200) for caller in (*small, *large)]
        until(
            lambda served=served: all(
                caller.count(200) > count + 5
                for caller, count in zip((*small, *large), served, strict=True)
            ),
            "answers to all",
        )
        (heavy,) = running.workers(heavy=True)
        os.kill(heavy, signal.SIGKILL)
        until(lambda heavy=heavy: running.workers(heavy=True) not in ([], [heavy]), "another one")
    for caller in (*small, *large):
        caller.stopped.set()
    for caller in (*small, *large):
        caller.join()

    assert [(set(caller.answered), caller.broken) for caller in small] == [({200}, 0)] * len(small)
    assert set().union(*(caller.answered for caller in large)) <= {200, 500}
    failures = sum(caller.broken + caller.count(500) for caller in large)
    assert failures <= KILLS * LARGE_CALLERS
    outcomes = Books(tmp_path).outcomes()
    complete = sum(caller.count(200) for caller in (*small, *large))
    assert complete <= outcomes["complete"] <= complete + failures
    rows = Books(tmp_path).rows().keys()
    ids = {each for caller in (*small, *large) for ids in caller.answered.values() for each in ids}
    assert ids <= rows
