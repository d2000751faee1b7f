"""The client against real sockets: requests, its pool, repetition, timeouts."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

import gevent
import gevent.event
import gevent.socket
import pytest

from engine.upstream.client.client import Client
from engine.upstream.client.deadlines import Timeouts
from engine.upstream.client.failures import Reset, UpstreamFailure
from tests.support.clock import Clock
from tests.support.http_client import (
    LONG,
    SHORT,
    Chunks,
    connected,
    failure_of,
    get,
    progress,
    read_all,
)
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
from tests.support.waiting import until

# --- requests


def test_an_idle_connection_is_closed_without_another_request() -> None:
    with connected(echo, pool_idle=0.01) as (client, _):
        read_all(client.send("GET", "/", [], None))
        assert client.connections == (1, 0)
        until(lambda: client.connections == (0, 0), "no connection is open", sleep=gevent.sleep)


def test_a_client_that_is_not_used_takes_less_than_1500_bytes() -> None:
    """A config may have thousands of upstreams."""
    Client("http://127.0.0.1:9/v1")
    tracemalloc.start()
    try:
        clients = [Client("http://127.0.0.1:9/v1") for _ in range(100)]
        assert tracemalloc.get_traced_memory()[0] < 1_500 * len(clients)
    finally:
        tracemalloc.stop()


def test_no_greenlet_waits_until_a_connection_is_idle_for_too_long() -> None:
    with connected(echo) as (client, _):
        before = _greenlets()
        read_all(client.send("GET", "/", [], None))
        until(lambda: _greenlets() - before <= 1, "only the peer waits", sleep=gevent.sleep)
        assert client.connections == (1, 0)


def _greenlets() -> int:
    gc.collect()
    return sum(isinstance(each, gevent.Greenlet) and not each.dead for each in gc.get_objects())


def test_a_request_is_sent_and_its_response_read() -> None:
    with connected(echo) as (client, peer):
        response = client.send("POST", "/a?b", [("X-Y", "z")], b"body")
        host = f"127.0.0.1:{peer.port}"
        request = f"POST /a?b HTTP/1.1\r\nHost: {host}\r\nX-Y: z\r\nContent-Length: 4\r\n\r\nbody"
        assert (response.status, response.length) == (200, len(request))
        assert response.header("content-length") == str(len(request))
        assert response.header("nothing") is None
        assert read_all(response) == request.encode()
        assert client.host == host


@pytest.mark.parametrize(
    ("method", "body", "line"),
    [
        ("GET", None, b""),
        ("DELETE", None, b""),
        ("POST", None, b"Content-Length: 0\r\n"),
        ("POST", b"", b"Content-Length: 0\r\n"),
        ("GET", b"x", b"Content-Length: 1\r\n"),
        ("PUT", Chunks(), b"Content-Length: 0\r\n"),
    ],
)
def test_a_body_is_sent_with_its_length(method: str, body: Any, line: bytes) -> None:
    with connected(echo) as (client, _):
        request = read_all(client.send(method, "/", [], body))
        assert request.count(b"Content-Length") == bool(line)
        assert line in request


@pytest.mark.parametrize(
    "body", [b"x" * 3_000_000, Chunks(*[b"x" * 50_000] * 60), Chunks(b"", b"a", b"", b"b")]
)
def test_large_bodies_arrive_complete(body: Any) -> None:
    with connected(echo) as (client, peer):
        request = read_all(client.send("POST", "/", [], body))
        expected = body if isinstance(body, bytes) else b"".join(body.chunks())
        assert request.partition(b"\r\n\r\n")[2] == expected
        read_all(get(client))
        assert peer.connections == 1


@pytest.mark.parametrize("size", [1, 100])
def test_a_connection_is_closed_after_a_body_of_a_wrong_size(size: int) -> None:
    with connected(echo) as (client, peer):
        with pytest.raises(ValueError, match="not as long"):
            client.send("POST", "/", [], Chunks(b"ab", b"cd", size=size))
        read_all(get(client))
        assert peer.connections == 2


def test_the_base_path_is_not_added_to_targets() -> None:
    client = Client("http://h/base/")
    assert client.base_path == "/base"
    assert client.host == "h"


# --- the pool


def test_a_connection_is_reused() -> None:
    with connected(echo) as (client, peer):
        for _ in range(3):
            read_all(get(client))
        assert peer.connections == 1


def test_a_connection_returns_to_the_pool_with_the_last_byte() -> None:
    with connected(echo) as (client, peer):
        responses = [get(client), get(client)]
        assert peer.connections == 1
        assert all(map(read_all, responses))


def test_a_connection_does_not_return_to_the_pool_before_the_last_byte() -> None:
    with connected(scripted([READ, OK[:-1], STALL], [READ, OK])) as (client, peer):
        get(client)
        assert read_all(get(client)) == b"ok"
        assert peer.connections == 2


@pytest.mark.parametrize(
    "response",
    [
        OK + b"extra",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
    ],
)
def test_responses_after_which_a_connection_is_not_reused(response: bytes) -> None:
    with connected(answering(response)) as (client, peer):
        assert read_all(get(client)) == b"ok"
        assert read_all(get(client)) == b"ok"
        assert peer.connections == 2


def test_closing_an_incomplete_response_closes_its_connection() -> None:
    with connected(echo) as (client, peer):
        response = client.send("POST", "/", [], b"x" * 1_000_000)
        assert response.read()
        response.close()
        response.close()
        read_all(get(client))
        assert peer.connections == 2


def test_many_greenlets_share_a_pool() -> None:
    with connected(echo, pool_size=5) as (client, peer):

        def request(number: int) -> bool:
            return str(number).encode() in read_all(client.send("GET", f"/{number}", [], None))

        for _ in range(5):
            jobs = [gevent.spawn(request, number) for number in range(40)]
            gevent.joinall(jobs, raise_error=True)
            assert all(job.value for job in jobs)
        assert client.connections == (5, 0)
        assert peer.connections >= 40


def test_a_stale_connection_is_replaced_before_it_is_used() -> None:
    with connected(echo) as (client, peer):
        read_all(get(client))
        peer.drop()
        read_all(get(client))
        assert peer.connections == 2
        assert len(peer.requests) == 2


# --- a request repeated on a new connection


@pytest.mark.parametrize("end", [CLOSE, RESET])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_request_is_repeated_if_a_reused_connection_ends(method: str, end: Step) -> None:
    body = Chunks(b"ab", b"cd")
    with connected(scripted([READ, OK, READ, end], [READ, OK])) as (client, peer):
        read_all(get(client))
        assert read_all(client.send(method, "/", [], body)) == b"ok"
        assert peer.connections == 2
        assert body.times == 2
        assert peer.requests[-1].endswith(b"abcd")


def test_a_body_that_can_be_sent_once_goes_to_a_new_connection() -> None:
    body = Chunks(b"ab", b"cd", is_replayable=False)
    with connected(scripted([READ, OK, READ, CLOSE], [READ, CLOSE])) as (client, peer):
        read_all(get(client))
        with pytest.raises(Reset):
            client.send("POST", "/", [], body)
        assert (peer.connections, body.times) == (2, 1)


@pytest.mark.parametrize("end", [CLOSE, RESET])
def test_a_request_is_repeated_only_once(end: Step) -> None:
    with connected(scripted([READ, OK, READ, end], [READ, end])) as (client, peer):
        read_all(get(client))
        failure = failure_of(client)
        assert progress(failure) == ("reset", False, True)
        assert peer.connections == 2


@pytest.mark.parametrize("end", [CLOSE, RESET])
def test_a_request_on_a_new_connection_is_not_repeated(end: Step) -> None:
    with connected(answering(end)) as (client, peer):
        failure = failure_of(client)
        assert progress(failure) == ("reset", False, True)
        assert peer.connections == 1


@pytest.mark.parametrize(
    ("start", "kind"), [(b"H", "truncated"), (b"HTTP/1.1 100 C\r\n\r\n", "reset")]
)
def test_a_request_is_not_repeated_after_a_byte_of_a_response(start: bytes, kind: str) -> None:
    with connected(scripted([READ, OK, READ, start, CLOSE])) as (client, peer):
        read_all(get(client))
        failure = failure_of(client)
        assert progress(failure) == (kind, True, True)
        assert peer.connections == 1


def test_a_request_is_not_repeated_after_a_timeout() -> None:
    timeouts = Timeouts(first_byte=0.5)
    with connected(scripted([READ, OK, READ, STALL]), timeouts=timeouts) as (client, peer):
        read_all(get(client))
        assert failure_of(client).kind == "first_byte_timeout"
        assert peer.connections == 1


# --- a response before the request is sent


@pytest.mark.parametrize("then", [CLOSE, STALL])
@pytest.mark.parametrize("spooled", [True, False])
def test_a_response_may_arrive_before_the_request_is_sent(then: Step, spooled: bool) -> None:
    refusal = b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno"

    def handle(sock: Any, peer: Peer) -> None:
        sock.recv(1000)
        scripted([refusal, then])(sock, peer)

    body = Chunks(*[b"x" * 65536] * 500) if spooled else b"x" * 32_000_000
    with connected(handle) as (client, peer):
        for _ in range(2):
            response = client.send("POST", "/", [], body)
            assert response.status == 413
            if then == STALL:  # a close with bytes unread is a reset, which may eat the body
                assert read_all(response) == b"no"
            response.close()
        assert peer.connections == 2


def test_an_interim_response_does_not_stop_the_request() -> None:
    def handle(sock: Any, _peer: Peer) -> None:
        sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        request = read_request(sock)
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n%07d" % len(request))

    with connected(handle) as (client, _):
        assert int(read_all(client.send("POST", "/", [], b"x" * 3_000_000))) > 3_000_000
        assert client.connections == (1, 0)


def test_a_reset_during_sending() -> None:
    def handle(sock: Any, peer: Peer) -> None:
        sock.recv(1000)
        scripted([RESET])(sock, peer)

    with connected(handle) as (client, peer):
        with pytest.raises(Reset) as excinfo:
            client.send("POST", "/", [], b"x" * 32_000_000)
        assert excinfo.value.request_sent
        assert peer.connections == 1


# --- timeouts


TIMEOUTS: dict[str, tuple[list[Step], Timeouts, str, bool]] = {
    "no answer": ([READ, STALL], Timeouts(first_byte=SHORT), "first_byte_timeout", False),
    "half a head": ([READ, b"HTTP/1.1 2", STALL], Timeouts(idle=SHORT), "idle_timeout", True),
    "half a body": ([READ, OK[:-1], STALL], Timeouts(idle=SHORT), "idle_timeout", True),
    "all, before": ([READ, STALL], Timeouts(total=SHORT), "total_timeout", False),
}


@pytest.mark.parametrize("name", TIMEOUTS)
def test_timeout(name: str) -> None:
    script, timeouts, kind, response_started = TIMEOUTS[name]
    with connected(scripted(script), timeouts=timeouts) as (client, _):
        failure = failure_of(client)
        assert progress(failure) == (kind, response_started, True)


@pytest.mark.parametrize(
    ("answer", "timeouts", "kind"),
    [
        (b"HTTP/1.1 102 P\r\n\r\n", Timeouts(first_byte=LONG), "first_byte_timeout"),
        (OK[:-1], Timeouts(total=LONG), "total_timeout"),
    ],
    ids=["only an interim response", "half a body"],
)
def test_timeout_after_the_response_has_started(
    answer: bytes, timeouts: Timeouts, kind: str
) -> None:
    """Nearly all of the time has passed when it starts."""
    clock = Clock()

    def handle(sock: Any, peer: Peer) -> None:
        read_request(sock)
        clock.advance(LONG - SHORT)
        scripted([answer, STALL])(sock, peer)

    with connected(handle, timeouts=timeouts, clock=clock) as (client, _):
        assert progress(failure_of(client)) == (kind, True, True)


@pytest.mark.parametrize(
    ("timeouts", "kind"),
    [
        (Timeouts(first_byte=SHORT), "first_byte_timeout"),
        (Timeouts(total=SHORT), "total_timeout"),
    ],
)
def test_an_upstream_that_stops_reading_the_request(timeouts: Timeouts, kind: str) -> None:
    with connected(scripted([STALL]), timeouts=timeouts) as (client, _):
        with pytest.raises(UpstreamFailure) as excinfo:
            client.send("POST", "/", [], b"x" * 32_000_000)
        assert (excinfo.value.kind, excinfo.value.request_sent) == (kind, True)


@pytest.mark.parametrize("on_data", [False, True])
def test_a_slow_steady_response_may_last_longer_than_the_idle_timeout(on_data: bool) -> None:
    clock = Clock()

    def handle(sock: Any, _peer: Peer) -> None:
        read_request(sock)
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        for _ in range(5):
            gevent.sleep(SHORT / 2)
            clock.advance(LONG / 2)
            sock.sendall(b"x")

    with connected(handle, timeouts=Timeouts(idle=LONG), clock=clock) as (client, _):
        response, pieces = get(client), list[bytes]()
        while data := response.read(pieces.append if on_data else None):
            pieces.append(data)
        assert b"".join(pieces) == b"xxxxx"


def test_a_slow_steady_response_may_not_last_longer_than_the_total_timeout() -> None:
    def handle(sock: Any, _peer: Peer) -> None:
        read_request(sock)
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n")
        for _ in range(500):
            gevent.sleep(SHORT / 5)
            sock.sendall(b"x")

    with connected(handle, timeouts=Timeouts(total=SHORT * 2)) as (client, _):
        assert failure_of(client).kind == "total_timeout"
