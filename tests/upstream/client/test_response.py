"""Responses over real sockets: how a body is read, how it can fail, closing, 101."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import gevent
import gevent.event
import gevent.socket
import pytest

from engine.upstream.client import failures
from engine.upstream.client.failures import Cancelled, ProtocolFailure, Silence, Truncated
from engine.upstream.client.http1 import ResponseParser
from engine.upstream.client.response import read_body, read_whole
from tests.support.http_client import LONG, SHORT, connected, failure_of, get, progress, read_all
from tests.support.peer import (
    CLOSE,
    OK,
    READ,
    RESET,
    STALL,
    Peer,
    Step,
    answering,
    echo,
    read_request,
    scripted,
)
from tests.support.upstreams import JSON, FakeResponse, failure

# --- responses


ANSWER = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"2\r\nok\r\n1;x=y\r\n!\r\n0\r\nA: b\r\n\r\n"
)


@pytest.mark.parametrize("end", [CLOSE, RESET])
def test_a_connection_that_ends_at_any_byte(end: Step) -> None:
    for cut in range(len(ANSWER)):
        with connected(answering(ANSWER[:cut], end)) as (client, _):
            failure = failure_of(client)
            assert failure.request_sent
            if end == CLOSE:  # a reset may overtake the bytes before it
                assert failure.kind == ("truncated" if cut else "reset"), cut
                assert failure.response_started == bool(cut)


def test_a_response_with_a_pause_at_any_byte() -> None:
    def handle(sock: Any, _peer: Peer) -> None:
        while request := read_request(sock):
            cut = int(request.split(b" ")[1][1:])
            sock.sendall(ANSWER[:cut])
            gevent.sleep(0)
            sock.sendall(ANSWER[cut:])

    with connected(handle) as (client, peer):
        for cut in range(1, len(ANSWER)):
            assert read_all(client.send("GET", f"/{cut}", [], None)) == b"ok!"
        assert peer.connections == 1


def test_read_returns_what_has_arrived() -> None:
    go = gevent.event.Event()

    def handle(sock: Any, _peer: Peer) -> None:
        read_request(sock)
        sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfi")
        go.wait()
        sock.sendall(b"rst\r\n0\r\n\r\n")

    with connected(handle) as (client, _):
        response = get(client)
        assert response.read() == b"fi"
        go.set()
        assert [response.read(), response.read(), response.read()] == [b"rst", b"", b""]


def test_parts_of_a_body_can_be_pieces_to_a_function() -> None:
    go = [gevent.event.Event() for _ in range(3)]

    def handle(sock: Any, _peer: Peer) -> None:
        read_request(sock)
        sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
        for after, data in zip(go, (b"1\r\nb\r\n", b"1\r\nc\r\n", b"0\r\n\r\n"), strict=True):
            after.wait()
            sock.sendall(data)

    pieces: list[bytes] = []

    def on_data(data: bytes) -> None:
        pieces.append(data)
        go[len(pieces)].set()

    with connected(handle) as (client, _):
        response = get(client)
        assert response.read(on_data) == b"a"  # it was there already
        go[0].set()
        assert response.read(on_data) == b""
        assert pieces == [b"b", b"c"]
        assert response.is_complete


@pytest.mark.parametrize("streamed", [True, False])
def test_a_response_can_be_read_on_after_a_silence(streamed: bool) -> None:
    go, pieces = gevent.event.Event(), list[bytes]()

    def handle(sock: Any, _peer: Peer) -> None:
        read_request(sock)
        sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
        go.wait()
        sock.sendall(b"1\r\nb\r\n0\r\n\r\n")

    with connected(handle) as (client, _):
        response = get(client)
        on_data = pieces.append if streamed else None
        assert response.read(on_data) == b"a"  # it was there already
        for _ in range(2):
            with pytest.raises(Silence) as excinfo:
                response.read(on_data, 0.01)
            assert excinfo.value.since_start
        go.set()
        assert b"".join([*pieces, response.read(on_data, 20.0)]) == b"b"


def test_a_silence_after_something_has_arrived_is_not_since_the_start() -> None:
    go, pieces = gevent.event.Event(), list[bytes]()

    def handle(sock: Any, _peer: Peer) -> None:
        read_request(sock)
        sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
        go.wait()
        sock.sendall(b"1\r\nb\r\n")
        sock.recv(9)

    silences: list[bool] = []
    with connected(handle) as (client, _):
        response = get(client)
        response.read(pieces.append)
        go.set()
        while not pieces:
            try:
                response.read(pieces.append, 0.01)
            except Silence as silence:
                silences.append(silence.since_start)
        response.close()
    assert (pieces, silences[-1]) == ([b"b"], False)


def test_data_before_a_failure_is_returned_first() -> None:
    with connected(answering(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", CLOSE)) as (
        client,
        _,
    ):
        response = get(client)
        assert response.read() == b"ok"
        for _ in range(2):  # and never a clean end after it
            with pytest.raises(Truncated):
                response.read()


def test_garbage_after_a_valid_chunk() -> None:
    bad = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nzz\r\n"
    with connected(answering(bad)) as (client, _):
        response = get(client)
        assert response.read() == b"ok"
        with pytest.raises(ProtocolFailure):
            response.read()


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"nonsense\r\n\r\n", "protocol"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "protocol"),
        (b"HTTP/1.1 101 S\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", "protocol"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 300_000 + b"\r\n\r\n", "headers_too_large"),
    ],
)
def test_a_response_that_is_not_valid_http(data: bytes, kind: str) -> None:
    with connected(answering(data)) as (client, peer):
        failure = failure_of(client)
        assert progress(failure) == (kind, True, True)
        failure_of(client)
        assert peer.connections == 2


def test_a_body_that_ends_with_the_connection() -> None:
    with connected(answering(b"HTTP/1.1 200 OK\r\n\r\nall", b" of it", CLOSE)) as (client, peer):
        assert read_all(get(client)) == b"all of it"
        assert read_all(get(client)) == b"all of it"
        assert peer.connections == 2


def test_a_reset_truncates_a_body_that_ends_with_the_connection() -> None:
    go = gevent.event.Event()

    def handle(sock: Any, peer: Peer) -> None:
        read_request(sock)
        sock.sendall(b"HTTP/1.1 200 OK\r\n\r\nall")
        go.wait()
        scripted([RESET])(sock, peer)

    with connected(handle) as (client, _):
        response = get(client)
        assert response.read() == b"all"
        go.set()
        with pytest.raises(Truncated):
            response.read()


def test_a_response_to_head_has_no_body() -> None:
    with connected(answering(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")) as (client, _):
        response = client.send("HEAD", "/", [], None)
        assert response.length == 9
        assert response.read() == b""


def test_200_kb_of_headers_are_accepted() -> None:
    lines = b"X: " + b"x" * 1000 + b"\r\n"
    with connected(answering(b"HTTP/1.1 200 OK\r\n" + lines * 200 + OK[17:])) as (client, _):
        response = get(client)
        assert len(response.headers) == 201
        assert read_all(response) == b"ok"


@pytest.mark.parametrize(
    "endless",
    [
        b"HTTP/1.1 102 Processing\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n",
        b"X: y\r\n",
    ],
    ids=["1xx", "1xx with headers", "headers"],
)
def test_endless_headers_are_refused(endless: bytes) -> None:
    def handle(sock: Any, peer: Peer) -> None:
        read_request(sock)
        if not endless.startswith(b"HTTP"):
            sock.sendall(b"HTTP/1.1 200 OK\r\n")
        while True:
            sock.sendall(endless * 1000)

    with connected(handle) as (client, _):
        assert failure_of(client).kind == "headers_too_large"


def test_a_slow_reader_slows_its_upstream() -> None:
    bytes_written = 0

    def handle(sock: Any, _peer: Peer) -> None:
        nonlocal bytes_written
        read_request(sock)
        sock.setsockopt(gevent.socket.SOL_SOCKET, gevent.socket.SO_SNDBUF, 65536)
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
        for _ in range(1000):
            sock.sendall(bytes(100_000))
            bytes_written += 100_000

    with connected(handle) as (client, _):
        response = get(client)
        for _ in range(20):
            assert 0 < len(response.read()) <= 65536
            gevent.sleep(0)
        assert bytes_written < 30_000_000
        response.close()


def parsers() -> int:
    return sum(type(value) is ResponseParser for value in gc.get_objects())


def test_a_response_closed_early_leaves_no_cycle() -> None:
    with connected(echo) as (client, _):
        gc.collect()
        gc.disable()
        try:
            before = parsers()
            response = client.send("POST", "/", [], b"x" * 1_000_000)
            response.close()
            del response
            assert parsers() == before
        finally:
            gc.enable()


@pytest.mark.parametrize("on_data", [None, lambda data: None], ids=["read", "on_data"])
def test_a_failure_that_is_not_read_leaves_no_cycle(on_data: Any) -> None:
    bad = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    def handle(sock: Any, _peer: Peer) -> None:
        read_request(sock)
        sock.sendall(bad)
        gevent.sleep(SHORT)
        sock.sendall(b"2\r\nok\r\nzz\r\n")

    with connected(handle) as (client, _):
        gc.disable()
        try:
            response = get(client)
            assert response.read(on_data) == b"ok"
            reference = weakref.ref(response)
            del response
            assert reference() is None
        finally:
            gc.enable()


# --- closing early


def test_closing_cancels_a_greenlet_that_reads() -> None:
    with connected(scripted([READ, OK[:-1], STALL])) as (client, _):
        response = get(client)
        assert response.read() == b"o"
        reader = gevent.spawn(response.read)
        gevent.sleep(0)
        response.close()
        with pytest.raises(Cancelled):
            reader.get(timeout=LONG)
        with pytest.raises(Cancelled):
            response.read()
        response.close()


def test_closing_closes_the_connection_to_the_upstream() -> None:
    end: gevent.event.AsyncResult[bytes] = gevent.event.AsyncResult()

    def handle(sock: Any, _peer: Peer) -> None:
        read_request(sock)
        sock.sendall(OK[:-1])
        end.set(sock.recv(1))

    with connected(handle) as (client, _):
        get(client).close()
        assert end.get(timeout=LONG) == b""


@pytest.mark.parametrize("where", [[READ, STALL], [STALL]])
def test_a_greenlet_killed_while_it_sends_or_waits_leaves_no_connection(where: list[Step]) -> None:
    with connected(scripted(where)) as (client, peer):
        sender = gevent.spawn(client.send, "POST", "/", [], b"x" * 8_000_000)
        while not peer.connections:
            gevent.sleep(0.001)
        sender.kill(timeout=LONG)
        assert sender.dead
        gevent.sleep(0)
        assert client.connections[0] == 0


# --- switching protocols


def test_a_101_gives_its_socket_away() -> None:
    head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
    with connected(answering(head + b"hello", READ)) as (client, peer):
        response = client.send("GET", "/", [("upgrade", "websocket")], None)
        assert response.status == 101
        assert response.header("upgrade") == "websocket"
        assert b"Connection: Upgrade\r\n" in peer.requests[0]
        sock, leftover = response.detach()
        assert leftover == b"hello"
        response.close()
        assert sock.send(b"GET / HTTP/1.1\r\n\r\n")
        while len(peer.requests) < 2:
            gevent.sleep(0.001)
        with pytest.raises(ValueError, match="101"):
            response.detach()
        sock.close()


def test_only_a_101_can_be_detached() -> None:
    with connected(echo) as (client, _), pytest.raises(ValueError, match="101"):
        get(client).detach()


def test_a_101_that_is_not_detached_is_closed() -> None:
    head = b"HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
    end: gevent.event.AsyncResult[bytes] = gevent.event.AsyncResult()

    def handle(sock: Any, _peer: Peer) -> None:
        read_request(sock)
        sock.sendall(head)
        end.set(sock.recv(1))

    with connected(handle) as (client, _):
        client.send("GET", "/", [("upgrade", "websocket")], None).close()
        assert end.get(timeout=LONG) == b""


@pytest.mark.parametrize(
    ("limit", "data", "complete"), [(9, b"abcdef", True), (3, b"abcd", False), (6, b"abcdef", True)]
)
def test_a_body_is_read_up_to_a_limit(limit: int, data: bytes, complete: bool) -> None:
    response: Any = FakeResponse(500, JSON, [b"cd", b"ef"])
    assert read_body(response, limit, b"ab") == (data, complete)


def test_a_body_that_breaks_off_is_incomplete() -> None:
    truncation = failure(failures.Truncated, response_started=True)
    response: Any = FakeResponse(500, JSON, [b"ab", truncation])
    assert read_body(response, 100) == (b"ab", False)


@pytest.mark.parametrize(("limit", "body"), [(3, b"abc"), (2, None), (0, None)])
def test_a_whole_body_is_not_longer_than_it_may_be(limit: int, body: bytes | None) -> None:
    response: Any = FakeResponse(200, JSON, [b"ab", b"c"])
    assert read_whole(response, limit) == body
    assert response.closed


def test_a_whole_body_that_breaks_off_is_a_failure() -> None:
    truncation = failure(failures.Truncated, response_started=True)
    response: Any = FakeResponse(200, JSON, [b"ab", truncation])
    with pytest.raises(failures.Truncated):
        read_whole(response, 100)
    assert response.closed
