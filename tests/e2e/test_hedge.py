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

from tests.support.commands import modelway
from tests.support.recording import (
    ReceivedRequest,
    Recorder,
    answer,
    ask,
    recorder,
    request,
)
from tests.support.running import ALL, TOKENS, Running, gateway
from tests.support.small import COMPLETION, chat, project
from tests.support.thorough import diagonal
from tests.support.translating import SPECS
from tests.support.vendors import Vendors, vendors
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
    assert (cancelled["outcome"], cancelled["operation"]) == ("cancelled", "small.chat")
    database = f"sqlite:///{tmp_path}/records.db"
    report = modelway("usage", "--database", database, "--by", "upstream", "--format", "json")
    (total,) = json.loads(report.stdout)["totals"]
    assert (total["upstream"], total["requests"], total["failed"]) == ("other", 1, 0)


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


TRANSLATED = """
version: 1
server: {{listen: "{{listen}}", workers: 1, debug_headers: true}}
{specs}upstreams:
  openai:    {{url: "{url}/v1", dialect: openai, proxy: ""}}
  anthropic: {{url: "{url}/v1", dialect: anthropic, proxy: ""}}
  gemini:    {{url: "{url}/v1beta", dialect: gemini, proxy: ""}}
models:
  claude-first:
    to: [{{upstream: anthropic, model: c, weight: 1000000}}, {{upstream: gemini, model: g}}]
    translate: strict
  gpt-first:
    to: [{{upstream: openai, model: gpt, weight: 1000000}}, {{upstream: anthropic, model: c}}]
    operations: [openai.createChatCompletion]
    translate: strict
stores: {{records: "sqlite:///records.db"}}
routes:
  - operation: openai.createChatCompletion
    model: $request.body#/model
    hedge: {{after: 50ms, idempotent: true}}
{tokens}
"""


class OneVendorIsSlow:
    """Vendors of which the one at `path` never answers; `closed` is set when the gateway closes its
    connection."""

    def __init__(self, others: Vendors, path: str) -> None:
        self._answer, self._path = others.upstream.speak, path
        self.closed = threading.Event()

    def __call__(self, received: ReceivedRequest, sock: socket.socket) -> None:
        if received.target != self._path:
            self._answer(received, sock)
        elif sock.recv(1) == b"":
            self.closed.set()


@pytest.mark.parametrize(
    ("order", "stream"),
    diagonal(
        [
            ("claude-first", "/v1/messages", "gemini"),
            ("gpt-first", "/v1/chat/completions", "anthropic"),
        ],
        [False, True],
    ),
)
def test_of_two_targets_of_different_languages_the_first_that_answers_is_translated(
    tmp_path: Path, order: tuple[str, str, str], stream: bool
) -> None:
    model, slow, winner = order
    with vendors() as servers:
        text = TRANSLATED.format(specs=SPECS, url=servers.upstream.url, tokens=TOKENS)
        servers.upstream.speak = speak = OneVendorIsSlow(servers, slow)
        with gateway(tmp_path, text) as front:
            answered = _say_hello(front, model, stream)
            assert (answered.status, answered.value("x-modelway-target").partition("/")[0]) == (
                *(200, winner),
            )
            assert speak.closed.wait(20), "the connection of the slower attempt is closed"
            if stream:
                lines = [line[6:] for line in answered.body.splitlines() if line[:6] == b"data: "]
                assert lines.pop() == b"[DONE]"
                choices = [c for line in lines for c in json.loads(line)["choices"]]
                text = "".join(choice["delta"].get("content") or "" for choice in choices)
            else:
                text = answered.json()["choices"][0]["message"]["content"]
            assert text == "Hello there."
            served, cancelled = rows(tmp_path, 2)
    assert (served["upstream"], served["attempts"]) == (winner, 2)
    assert (served["input"], served["output"]) == (12, 5)
    assert (cancelled["id"], cancelled["outcome"]) == (f"{served['id']}.1", "cancelled")


def _say_hello(front: Running, model: str, stream: bool) -> Any:
    turns = [{"role": "user", "content": "Hi"}]
    body: dict[str, Any] = {"model": model, "messages": turns, "stream": stream}
    data = json.dumps(body, separators=(",", ":")).encode()
    return ask(front.port, request("/v1/chat/completions", data, token=ALL))
