"""Sessions over a WebSocket are requests like any other: upstream TLS, limits, ledger, log."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.sync.server import ServerConnection, serve

from tests.support.books import Books
from tests.support.peer import Authority
from tests.support.running import ALL, TOKENS, Running, gateway
from tests.support.waiting import until

DOCUMENT = """
openapi: 3.1.0
info: {title: Live, version: "1"}
paths: {/live: {get: {operationId: enter, responses: {"101": {description: it goes on}}}}}
"""
CONFIG = """
version: 1
server: {listen: "{listen}", workers: 1}
stores: {records: "sqlite:///records.db"}
specs: {live: {document: live.yaml}}
upstreams:
  live: {url: "https://127.0.0.1:PORT", tls: {ca: ca.pem}, proxy: ""}
policies: [{concurrency: {requests: 1}}]
routes: [{operation: live.enter, to: [{upstream: live}]}]
"""


def echo(connection: ServerConnection) -> None:
    for message in connection:
        connection.send(message)


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A gateway before an upstream that speaks TLS alone."""
    folder = tmp_path_factory.mktemp("sessions")
    issued = Authority(folder).issue("127.0.0.1")  # leaves its own as ca.pem
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*issued)
    (folder / "live.yaml").write_text(DOCUMENT)
    with serve(echo, "127.0.0.1", 0, ssl=context, max_size=None) as upstream:
        threading.Thread(target=upstream.serve_forever, daemon=True).start()
        port = upstream.socket.getsockname()[1]
        with gateway(folder, CONFIG.replace("PORT", str(port)) + TOKENS) as running:
            yield running
        upstream.shutdown()


def enter(front: Running) -> ClientConnection:
    headers = {"Authorization": f"Bearer {ALL}"}
    return connect(f"ws://127.0.0.1:{front.port}/live", additional_headers=headers, max_size=None)


def next_session(front: Running) -> ClientConnection:
    """A new session, as soon as the slot of the last one is free."""

    def attempt() -> ClientConnection | None:
        try:
            return enter(front)
        except InvalidStatus:
            return None

    connection: ClientConnection = until(attempt, "a place")
    return connection


@pytest.mark.parametrize("size", [1, 70_000, 3_000_000])
def test_an_upstream_behind_tls_is_relayed_whole(front: Running, size: int) -> None:
    """With more data than a TLS record and a buffer hold, both ways."""
    message = bytes(range(256)) * (size // 256) + b"x" * (size % 256)

    def speak() -> bytes:
        with next_session(front) as session:
            session.send(message)
            session.send("grüße")
            first = session.recv(20)
            assert session.recv(20) == "grüße"
            return bytes(first)

    (row,) = Books(front.log.parent).rows_of(speak)
    assert (row["status"], row["outcome"]) == (101, "complete")
    assert row["bytes_out"] == len(message) + len("grüße".encode())


def test_a_session_is_one_request_under_way_as_long_as_it_lasts(front: Running) -> None:
    with next_session(front) as session:
        session.send("a")
        assert session.recv(20) == "a"
        with pytest.raises(InvalidStatus) as excinfo:
            enter(front)
        response = excinfo.value.response
        assert response.status_code == 429
        assert json.loads(response.body)["error"]["code"] == "concurrency_limit_exceeded"

    with next_session(front) as second_session:
        second_session.send("b")
        assert second_session.recv(20) == "b"


def test_the_log_has_the_messages_and_bytes(front: Running) -> None:
    with next_session(front) as session:
        for text in ("one", "three"):
            session.send(text)
            session.recv(20)
        name = session.response.headers["x-request-id"]

    def line() -> Any:
        lines = [text for text in front.output().splitlines() if name in text and text[:1] == "{"]
        return json.loads(lines[0]) if lines else None

    entry = until(line, "the line of the session")
    assert (entry["status"], entry["outcome"], entry["token"]) == (101, "complete", "everything")
    passed = entry["websocket"]
    assert (passed["messages_in"], passed["bytes_out"]) == (2, 8)
    assert passed["code"] == 1000
    assert ALL not in front.output()
