"""Hedged requests with real workers: one answer, and both attempts in the ledger."""

from __future__ import annotations

import json
import socket
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.recording import ReceivedRequest, Recorder, answer, ask, recorder
from tests.support.running import gateway
from tests.support.small import COMPLETION, chat, project
from tests.support.waiting import until

WHOLE_ANSWER = answer(json.dumps(COMPLETION).encode())
MODEL = "one: {to: [{upstream: main, weight: 1000000}, {upstream: other}]}"


class FirstIsSlow:
    """An upstream that never answers the first request; `closed` is set when the gateway closes
    its connection."""

    def __init__(self) -> None:
        self.requests = 0
        self.closed = threading.Event()

    def __call__(self, received: ReceivedRequest, sock: socket.socket) -> None:
        self.requests += 1
        if self.requests > 1:
            WHOLE_ANSWER(received, sock)
        elif sock.recv(1) == b"":
            self.closed.set()


@pytest.fixture(scope="module")
def upstream() -> Iterator[Recorder]:
    with recorder() as recording:
        yield recording


def config(folder: Path, url: str, hedge: str) -> str:
    more = 'stores: {records: "sqlite:///records.db"}\n'
    text = project(folder, url, {"chat": f"[], hedge: {hedge}"}, more=more, workers=1)
    return text.replace("one: {to: [{upstream: main}]}", MODEL)


def rows(folder: Path, count: int) -> list[dict[str, Any]]:
    """The rows of the ledger, as soon as there are so many."""

    def read() -> list[dict[str, Any]]:
        connection = sqlite3.connect(folder / "records.db")
        connection.row_factory = sqlite3.Row
        try:
            selected = connection.execute("SELECT * FROM usage ORDER BY id").fetchall()
        finally:
            connection.close()
        return [dict(row) for row in selected] if len(selected) >= count else []

    return list(until(read, f"{count} rows of the ledger"))


def test_a_slow_request_is_answered_by_the_second_target_and_both_are_in_the_ledger(
    tmp_path: Path, upstream: Recorder
) -> None:
    upstream.speak = speak = FirstIsSlow()
    text = config(tmp_path, upstream.url, "{after: 50ms, idempotent: true}")
    with gateway(tmp_path, text) as front:
        response = ask(front.port, chat())
        assert response.status == 200
        assert speak.closed.wait(20), "the connection of the slower attempt is closed"
        request, cancelled = rows(tmp_path, 2)
    assert request["id"] == response.value("x-request-id")
    assert (request["upstream"], request["attempts"], request["input"]) == ("other", 2, 7)
    assert (cancelled["id"], cancelled["upstream"]) == (f"{request['id']}.1", "main")
    assert (cancelled["input"], cancelled["cost"], cancelled["source"]) == (0, 0, "none")
    assert (cancelled["outcome"], cancelled["operation"]) == ("caller_left", "small.chat")


def test_a_request_that_is_answered_in_time_has_one_attempt(
    tmp_path: Path, upstream: Recorder
) -> None:
    upstream.reset()
    upstream.speak = WHOLE_ANSWER
    text = config(tmp_path, upstream.url, "{after: 30s, idempotent: true}")
    with gateway(tmp_path, text) as front:
        assert ask(front.port, chat()).status == 200
        assert len(upstream.requests) == 1
        (row,) = rows(tmp_path, 1)
    assert row["attempts"] == 1
