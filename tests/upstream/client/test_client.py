"""The client against real sockets: its pool, its four timeouts, and how an answer can fail."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gevent
import gevent.event
import gevent.socket
import pytest

from engine.upstream.client.client import Client, Timeouts, UpstreamResponse
from engine.upstream.client.failures import (
    Cancelled,
    ProtocolFailure,
    Reset,
    Truncated,
    UpstreamFailure,
)
from tests.support.peer import (
    CLOSE,
    OK,
    READ,
    RESET,
    STALL,
    Handler,
    Peer,
    Step,
    answering,
    echo,
    read_request,
    scripted,
    serving,
)

SHORT = 0.05
LONG = 5.0


@contextmanager
def talking(handle: Handler, **options: Any) -> Iterator[tuple[Client, Peer]]:
    with serving(handle) as peer:
        client = Client(peer.url, **{"timeouts": Timeouts(LONG, LONG, LONG, LONG), **options})
        try:
            yield client, peer
        finally:
            client.close()


def get(client: Client) -> UpstreamResponse:
    return client.send("GET", "/", [], None)


def whole(response: UpstreamResponse) -> bytes:
    data = b"".join(iter(response.read, b""))
    response.close()
    return data


def fails(client: Client) -> UpstreamFailure:
    with pytest.raises(UpstreamFailure) as caught:
        whole(get(client))
    return caught.value


class Chunks:
    """A Spool that counts how often it was read."""

    def __init__(self, *chunks: bytes, size: int | None = None) -> None:
        self._chunks = chunks
        self.size = sum(map(len, chunks)) if size is None else size
        self.times = 0

    def chunks(self) -> Iterator[bytes]:
        self.times += 1
        return iter(self._chunks)


# --- requests


def test_a_request_and_its_answer() -> None:
    with talking(echo) as (client, peer):
        response = client.send("POST", "/a?b", [("X-Y", "z")], b"body")
        host = f"127.0.0.1:{peer.port}"
        sent = f"POST /a?b HTTP/1.1\r\nHost: {host}\r\nX-Y: z\r\nContent-Length: 4\r\n\r\nbody"
        assert (response.status, response.length) == (200, len(sent))
        assert response.header("Content-Length") == str(len(sent))
        assert response.header("nothing") is None
        assert whole(response) == sent.encode()
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
def test_the_length_of_a_body(method: str, body: Any, line: bytes) -> None:
    with talking(echo) as (client, _):
        request = whole(client.send(method, "/", [], body))
        assert request.count(b"Content-Length") == bool(line)
        assert line in request


@pytest.mark.parametrize(
    "body", [b"x" * 3_000_000, Chunks(*[b"x" * 50_000] * 60), Chunks(b"", b"a", b"", b"b")]
)
def test_large_bodies_arrive_whole(body: Any) -> None:
    with talking(echo) as (client, peer):
        request = whole(client.send("POST", "/", [], body))
        expected = body if isinstance(body, bytes) else b"".join(body.chunks())
        assert request.partition(b"\r\n\r\n")[2] == expected
        whole(get(client))
        assert peer.connections == 1


@pytest.mark.parametrize("size", [1, 100])
def test_a_spool_that_lies_about_its_size_spoils_no_connection(size: int) -> None:
    with talking(echo) as (client, peer):
        with pytest.raises(ValueError, match="not as long"):
            client.send("POST", "/", [], Chunks(b"ab", b"cd", size=size))
        whole(get(client))
        assert peer.connections == 2


def test_base_path_is_left_to_the_caller() -> None:
    client = Client("http://h/base/")
    assert client.base_path == "/base"
    assert client.host == "h"


# --- the pool


def test_a_connection_is_used_again() -> None:
    with talking(echo) as (client, peer):
        for _ in range(3):
            whole(get(client))
        assert peer.connections == 1


def test_it_is_given_back_with_the_last_byte() -> None:
    with talking(echo) as (client, peer):
        answers = [get(client), get(client)]
        assert peer.connections == 1
        assert all(map(whole, answers))


def test_it_is_not_given_back_before_the_last_byte() -> None:
    with talking(scripted([READ, OK[:-1], STALL], [READ, OK])) as (client, peer):
        get(client)
        assert whole(get(client)) == b"ok"
        assert peer.connections == 2


@pytest.mark.parametrize(
    "response",
    [
        OK + b"extra",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
    ],
)
def test_answers_after_which_a_connection_is_not_used_again(response: bytes) -> None:
    with talking(answering(response)) as (client, peer):
        assert whole(get(client)) == b"ok"
        assert whole(get(client)) == b"ok"
        assert peer.connections == 2


def test_an_answer_not_read_whole_closes_its_connection() -> None:
    with talking(echo) as (client, peer):
        response = client.send("POST", "/", [], b"x" * 1_000_000)
        assert response.read()
        response.close()
        response.close()
        whole(get(client))
        assert peer.connections == 2


def test_an_answer_that_was_cut_leaves_nothing_to_the_collector() -> None:
    with talking(echo) as (client, _):
        gc.disable()
        try:
            response = client.send("POST", "/", [], b"x" * 1_000_000)
            left = weakref.ref(response._parser)
            response.close()
            del response
            assert left() is None
        finally:
            gc.enable()


@pytest.mark.parametrize("passing", [None, lambda data: None], ids=["read", "passed on"])
def test_a_failure_that_nobody_asks_for_leaves_nothing_to_the_collector(passing: Any) -> None:
    bad = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    def handle(sock: Any, _peer: Peer) -> None:
        read_request(sock)
        sock.sendall(bad)
        gevent.sleep(SHORT)
        sock.sendall(b"2\r\nok\r\nzz\r\n")

    with talking(handle) as (client, _):
        gc.disable()
        try:
            response = get(client)
            assert response.read(passing) == b"ok"
            left = weakref.ref(response)
            del response
            assert left() is None
        finally:
            gc.enable()


def test_many_greenlets_share_a_pool() -> None:
    with talking(echo, pool_size=5) as (client, peer):

        def one(number: int) -> bool:
            return str(number).encode() in whole(client.send("GET", f"/{number}", [], None))

        for _ in range(5):
            jobs = [gevent.spawn(one, number) for number in range(40)]
            gevent.joinall(jobs, raise_error=True)
            assert all(job.value for job in jobs)
        assert client.connections == (5, 0)
        assert peer.connections >= 40


def test_a_stale_connection_is_replaced_before_it_is_used() -> None:
    with talking(echo) as (client, peer):
        whole(get(client))
        peer.drop()
        whole(get(client))
        assert peer.connections == 2
        assert len(peer.requests) == 2


# --- once more on a new connection


@pytest.mark.parametrize("end", [CLOSE, RESET])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_reused_connection_that_ends_without_a_byte(method: str, end: Step) -> None:
    body = Chunks(b"ab", b"cd")
    with talking(scripted([READ, OK, READ, end], [READ, OK])) as (client, peer):
        whole(get(client))
        assert whole(client.send(method, "/", [], body)) == b"ok"
        assert peer.connections == 2
        assert body.times == 2
        assert peer.requests[-1].endswith(b"abcd")


@pytest.mark.parametrize("end", [CLOSE, RESET])
def test_only_once(end: Step) -> None:
    with talking(scripted([READ, OK, READ, end], [READ, end])) as (client, peer):
        whole(get(client))
        failure = fails(client)
        assert (failure.kind, failure.response_started, failure.request_sent) == (
            "reset",
            False,
            True,
        )
        assert peer.connections == 2


@pytest.mark.parametrize("end", [CLOSE, RESET])
def test_never_on_a_new_connection(end: Step) -> None:
    with talking(answering(end)) as (client, peer):
        failure = fails(client)
        assert (failure.kind, failure.response_started, failure.request_sent) == (
            "reset",
            False,
            True,
        )
        assert peer.connections == 1


@pytest.mark.parametrize(
    ("begun", "kind"), [(b"H", "truncated"), (b"HTTP/1.1 100 C\r\n\r\n", "reset")]
)
def test_never_after_a_byte_of_an_answer(begun: bytes, kind: str) -> None:
    with talking(scripted([READ, OK, READ, begun, CLOSE])) as (client, peer):
        whole(get(client))
        failure = fails(client)
        assert (failure.kind, failure.response_started, failure.request_sent) == (kind, True, True)
        assert peer.connections == 1


def test_never_after_a_timeout() -> None:
    timeouts = Timeouts(first_byte=SHORT)
    with talking(scripted([READ, OK, READ, STALL]), timeouts=timeouts) as (client, peer):
        whole(get(client))
        assert fails(client).kind == "first_byte_timeout"
        assert peer.connections == 1


# --- answers


ANSWER = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"2\r\nok\r\n1;x=y\r\n!\r\n0\r\nA: b\r\n\r\n"
)


@pytest.mark.parametrize("end", [CLOSE, RESET])
def test_an_end_at_every_byte(end: Step) -> None:
    for cut in range(len(ANSWER)):
        with talking(answering(ANSWER[:cut], end)) as (client, _):
            failure = fails(client)
            assert failure.request_sent
            if end == CLOSE:  # a reset may overtake the bytes before it
                assert failure.kind == ("truncated" if cut else "reset"), cut
                assert failure.response_started == bool(cut)


def test_a_pause_at_every_byte() -> None:
    def handle(sock: Any, _peer: Peer) -> None:
        while request := read_request(sock):
            cut = int(request.split(b" ")[1][1:])
            sock.sendall(ANSWER[:cut])
            gevent.sleep(0)
            sock.sendall(ANSWER[cut:])

    with talking(handle) as (client, peer):
        for cut in range(1, len(ANSWER)):
            assert whole(client.send("GET", f"/{cut}", [], None)) == b"ok!"
        assert peer.connections == 1


def test_read_gives_what_has_arrived() -> None:
    go = gevent.event.Event()

    def handle(sock: Any, _peer: Peer) -> None:
        read_request(sock)
        sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfi")
        go.wait()
        sock.sendall(b"rst\r\n0\r\n\r\n")

    with talking(handle) as (client, _):
        response = get(client)
        assert response.read() == b"fi"
        go.set()
        assert [response.read(), response.read(), response.read()] == [b"rst", b"", b""]


def test_what_arrives_before_the_end_can_be_passed_on() -> None:
    go = [gevent.event.Event() for _ in range(3)]

    def handle(sock: Any, _peer: Peer) -> None:
        read_request(sock)
        sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
        for after, data in zip(go, (b"1\r\nb\r\n", b"1\r\nc\r\n", b"0\r\n\r\n"), strict=True):
            after.wait()
            sock.sendall(data)

    passed: list[bytes] = []

    def passing(data: bytes) -> None:
        passed.append(data)
        go[len(passed)].set()

    with talking(handle) as (client, _):
        response = get(client)
        assert response.read(passing) == b"a"  # it was there already
        go[0].set()
        assert response.read(passing) == b""
        assert passed == [b"b", b"c"]
        assert response.is_complete


def test_what_came_before_a_failure_is_given_first() -> None:
    with talking(answering(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", CLOSE)) as (
        client,
        _,
    ):
        response = get(client)
        assert response.read() == b"ok"
        for _ in range(2):  # and never a clean end after it
            with pytest.raises(Truncated):
                response.read()


def test_garbage_behind_a_good_chunk() -> None:
    bad = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nzz\r\n"
    with talking(answering(bad)) as (client, _):
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
def test_garbage(data: bytes, kind: str) -> None:
    with talking(answering(data)) as (client, peer):
        failure = fails(client)
        assert (failure.kind, failure.response_started, failure.request_sent) == (kind, True, True)
        fails(client)
        assert peer.connections == 2


def test_close_delimited() -> None:
    with talking(answering(b"HTTP/1.1 200 OK\r\n\r\nall", b" of it", CLOSE)) as (client, peer):
        assert whole(get(client)) == b"all of it"
        assert whole(get(client)) == b"all of it"
        assert peer.connections == 2


def test_a_reset_is_no_end_of_a_close_delimited_body() -> None:
    go = gevent.event.Event()

    def handle(sock: Any, peer: Peer) -> None:
        read_request(sock)
        sock.sendall(b"HTTP/1.1 200 OK\r\n\r\nall")
        go.wait()
        scripted([RESET])(sock, peer)

    with talking(handle) as (client, _):
        response = get(client)
        assert response.read() == b"all"
        go.set()
        with pytest.raises(Truncated):
            response.read()


def test_a_head_answer_has_no_body() -> None:
    with talking(answering(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")) as (client, _):
        response = client.send("HEAD", "/", [], None)
        assert response.length == 9
        assert response.read() == b""


def test_200_kb_of_headers() -> None:
    lines = b"X: " + b"x" * 1000 + b"\r\n"
    with talking(answering(b"HTTP/1.1 200 OK\r\n" + lines * 200 + OK[17:])) as (client, _):
        response = get(client)
        assert len(response.headers) == 201
        assert whole(response) == b"ok"


@pytest.mark.parametrize(
    "endless",
    [
        b"HTTP/1.1 102 Processing\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n",
        b"X: y\r\n",
    ],
    ids=["1xx", "1xx with headers", "headers"],
)
def test_what_never_ends_is_cut_off(endless: bytes) -> None:
    def handle(sock: Any, peer: Peer) -> None:
        read_request(sock)
        if not endless.startswith(b"HTTP"):
            sock.sendall(b"HTTP/1.1 200 OK\r\n")
        while True:
            sock.sendall(endless * 1000)

    with talking(handle) as (client, _):
        assert fails(client).kind == "headers_too_large"


def test_a_slow_reader_slows_its_upstream_down() -> None:
    written = 0

    def handle(sock: Any, _peer: Peer) -> None:
        nonlocal written
        read_request(sock)
        sock.setsockopt(gevent.socket.SOL_SOCKET, gevent.socket.SO_SNDBUF, 65536)
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
        for _ in range(1000):
            sock.sendall(bytes(100_000))
            written += 100_000

    with talking(handle) as (client, _):
        response = get(client)
        for _ in range(20):
            assert 0 < len(response.read()) <= 65536
            gevent.sleep(0)
        assert written < 30_000_000
        response.close()


# --- an answer before the request is sent


@pytest.mark.parametrize("then", [CLOSE, STALL])
@pytest.mark.parametrize("spooled", [True, False])
def test_an_answer_before_the_request_is_sent(then: Step, spooled: bool) -> None:
    refusal = b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno"

    def handle(sock: Any, peer: Peer) -> None:
        sock.recv(1000)
        scripted([refusal, then])(sock, peer)

    body = Chunks(*[b"x" * 65536] * 500) if spooled else b"x" * 32_000_000
    with talking(handle) as (client, peer):
        for _ in range(2):
            response = client.send("POST", "/", [], body)
            assert response.status == 413
            if then == STALL:  # a close with bytes unread is a reset, which may eat the body
                assert whole(response) == b"no"
            response.close()
        assert peer.connections == 2


def test_an_interim_answer_does_not_stop_the_request() -> None:
    def handle(sock: Any, _peer: Peer) -> None:
        sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        request = read_request(sock)
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n%07d" % len(request))

    with talking(handle) as (client, _):
        assert int(whole(client.send("POST", "/", [], b"x" * 3_000_000))) > 3_000_000
        assert client.connections == (1, 0)


def test_an_upstream_that_goes_while_we_send() -> None:
    def handle(sock: Any, peer: Peer) -> None:
        sock.recv(1000)
        scripted([RESET])(sock, peer)

    with talking(handle) as (client, peer):
        with pytest.raises(Reset) as caught:
            client.send("POST", "/", [], b"x" * 32_000_000)
        assert caught.value.request_sent
        assert peer.connections == 1


# --- timeouts


TIMEOUTS: dict[str, tuple[list[Step], Timeouts, str, bool]] = {
    "no answer": ([READ, STALL], Timeouts(first_byte=SHORT), "first_byte_timeout", False),
    "only an interim one": (
        [READ, b"HTTP/1.1 102 P\r\n\r\n", STALL],
        Timeouts(first_byte=SHORT),
        "first_byte_timeout",
        True,
    ),
    "half a head": ([READ, b"HTTP/1.1 2", STALL], Timeouts(idle=SHORT), "idle_timeout", True),
    "half a body": ([READ, OK[:-1], STALL], Timeouts(idle=SHORT), "idle_timeout", True),
    "all, before": ([READ, STALL], Timeouts(total=SHORT), "total_timeout", False),
    "all, within": ([READ, OK[:-1], STALL], Timeouts(total=SHORT), "total_timeout", True),
}


@pytest.mark.parametrize("name", TIMEOUTS)
def test_timeout(name: str) -> None:
    script, timeouts, kind, answered = TIMEOUTS[name]
    with talking(scripted(script), timeouts=timeouts) as (client, _):
        failure = fails(client)
        assert (failure.kind, failure.response_started, failure.request_sent) == (
            kind,
            answered,
            True,
        )


@pytest.mark.parametrize(
    ("timeouts", "kind"),
    [
        (Timeouts(first_byte=SHORT), "first_byte_timeout"),
        (Timeouts(total=SHORT), "total_timeout"),
    ],
)
def test_an_upstream_that_takes_no_more_of_the_request(timeouts: Timeouts, kind: str) -> None:
    with talking(scripted([STALL]), timeouts=timeouts) as (client, _):
        with pytest.raises(UpstreamFailure) as caught:
            client.send("POST", "/", [], b"x" * 32_000_000)
        assert (caught.value.kind, caught.value.request_sent) == (kind, True)


@pytest.mark.parametrize("passing", [False, True])
def test_a_slow_but_steady_answer_outlives_the_idle_timeout(passing: bool) -> None:
    def handle(sock: Any, _peer: Peer) -> None:
        read_request(sock)
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        for _ in range(5):
            gevent.sleep(SHORT / 2)
            sock.sendall(b"x")

    with talking(handle, timeouts=Timeouts(idle=SHORT * 1.5)) as (client, _):
        response, got = get(client), list[bytes]()
        while data := response.read(got.append if passing else None):
            got.append(data)
        assert b"".join(got) == b"xxxxx"


def test_a_slow_but_steady_answer_does_not_outlive_the_total() -> None:
    def handle(sock: Any, _peer: Peer) -> None:
        read_request(sock)
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n")
        for _ in range(500):
            gevent.sleep(SHORT / 5)
            sock.sendall(b"x")

    with talking(handle, timeouts=Timeouts(total=SHORT * 2)) as (client, _):
        assert fails(client).kind == "total_timeout"


# --- when our caller leaves


def test_closing_while_another_greenlet_reads() -> None:
    with talking(scripted([READ, OK[:-1], STALL])) as (client, _):
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


def test_closing_hangs_up_on_the_upstream() -> None:
    left: gevent.event.AsyncResult[bytes] = gevent.event.AsyncResult()

    def handle(sock: Any, _peer: Peer) -> None:
        read_request(sock)
        sock.sendall(OK[:-1])
        left.set(sock.recv(1))

    with talking(handle) as (client, _):
        get(client).close()
        assert left.get(timeout=LONG) == b""


@pytest.mark.parametrize("where", [[READ, STALL], [STALL]])
def test_a_greenlet_killed_while_it_sends_or_waits_leaves_nothing_behind(where: list[Step]) -> None:
    with talking(scripted(where)) as (client, peer):
        sender = gevent.spawn(client.send, "POST", "/", [], b"x" * 8_000_000)
        while not peer.connections:
            gevent.sleep(0.001)
        sender.kill(timeout=LONG)
        assert sender.dead
        gevent.sleep(0)
        assert client.connections[0] == 0


# --- switching protocols


def test_detach() -> None:
    head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
    with talking(answering(head + b"hello", READ)) as (client, peer):
        response = client.send("GET", "/", [("Upgrade", "websocket")], None)
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
    with talking(echo) as (client, _), pytest.raises(ValueError, match="101"):
        get(client).detach()


def test_a_101_that_is_not_detached_is_closed() -> None:
    head = b"HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
    left: gevent.event.AsyncResult[bytes] = gevent.event.AsyncResult()

    def handle(sock: Any, _peer: Peer) -> None:
        read_request(sock)
        sock.sendall(head)
        left.set(sock.recv(1))

    with talking(handle) as (client, _):
        client.send("GET", "/", [("Upgrade", "websocket")], None).close()
        assert left.get(timeout=LONG) == b""
