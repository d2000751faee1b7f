"""A request on its way to a heavy worker, and the report on its way back."""

from __future__ import annotations

import math
from collections.abc import Iterator

import gevent
import gevent.socket
import pytest

from engine.exchange.caller_connection import InternalCaller
from engine.server.http1.request import RequestHead
from engine.server.large_requests.large_sizes import Lesson
from engine.server.large_requests.passed_request import (
    PassedRequest,
    ReportingSocket,
    await_heavy_worker,
    receive_report,
    receive_request,
    send_report,
    send_request,
)
from tests.support.waiting import PATIENCE


class Pair:
    """The worker's and the heavy worker's end, and the caller's connection."""

    def __init__(self) -> None:
        self.worker, self.heavy = gevent.socket.socketpair()
        self.client, self.caller = gevent.socket.socketpair()
        self.lesson: Lesson | None = None

    def sock(self) -> ReportingSocket:
        return ReportingSocket(self.client, self.heavy)

    def report(self) -> tuple[int, bool, bytes]:
        """The status of the refusal (0: none), whether the connection is reusable, and the rest."""
        self.heavy.close()
        with gevent.Timeout(PATIENCE):
            refusal, is_reusable, rest, self.lesson = receive_report(self.worker)
        return refusal.status if refusal is not None else 0, is_reusable, rest

    def close(self) -> None:
        for sock in (self.worker, self.heavy, self.client, self.caller):
            sock.close()


@pytest.fixture
def pair() -> Iterator[Pair]:
    new_pair = Pair()
    yield new_pair
    new_pair.close()


def request(size: int = 10) -> PassedRequest:
    head = RequestHead("POST", "/v1/chat/completions?a=1", 1)
    head.headers["HTTP_X_A"] = "b" * size
    head.content_length = None
    head.expects_continue = True
    return PassedRequest(head, b"5\r\nhello", ("10.0.0.1", 4711), 1, True)


@pytest.mark.parametrize("size", [10, 1_000_000])
def test_a_request_arrives_as_it_was_read(pair: Pair, size: int) -> None:
    sending = gevent.spawn(send_request, pair.worker, request(size))
    with gevent.Timeout(PATIENCE):
        received = receive_request(pair.heavy)
    sending.get(timeout=PATIENCE)
    sent = request(size)
    assert vars(received.head) == vars(sent.head)
    assert received[1:] == sent[1:]


def test_a_worker_that_dies_before_it_has_passed_the_request(pair: Pair) -> None:
    pair.worker.sendall(b"\0\0\1\0pickle")
    pair.worker.close()
    with pytest.raises((EOFError, BrokenPipeError)):
        receive_request(pair.heavy)


@pytest.mark.parametrize("is_ready", [True, False])
def test_a_worker_waits_for_a_heavy_worker(pair: Pair, is_ready: bool) -> None:
    receiving = gevent.spawn(receive_request, pair.heavy) if is_ready else None
    assert await_heavy_worker(pair.worker, 0.05 if receiving is None else PATIENCE) is is_ready
    if receiving is not None:
        send_request(pair.worker, request())
        assert receiving.get(timeout=PATIENCE).listener == 1


def test_a_heavy_worker_that_dies_first_is_not_awaited(pair: Pair) -> None:
    pair.heavy.close()
    with pytest.raises(EOFError):
        await_heavy_worker(pair.worker, PATIENCE)


@pytest.mark.parametrize(
    ("is_reusable", "rest"), [(True, b""), (True, b"GET / HTTP/1.1\r\n"), (False, b"")]
)
def test_the_end_of_a_request_is_reported(pair: Pair, is_reusable: bool, rest: bytes) -> None:
    pair.sock().send(b"HTTP/1.1 200 OK\r\n\r\n")
    send_report(pair.heavy, is_reusable=is_reusable, rest=rest)
    assert pair.report() == (0, is_reusable, rest)


def test_a_caller_who_left_before_the_response_is_answered_nothing(pair: Pair) -> None:
    send_report(pair.heavy, is_reusable=False, rest=b"")
    assert pair.report() == (0, False, b"")


def test_a_process_that_dies_before_the_response_costs_a_500(pair: Pair) -> None:
    pair.sock().send(b"HTTP/1.1 100 Continue\r\n\r\n")
    assert pair.report() == (500, False, b"")


@pytest.mark.parametrize("how", ["send", "try_send"])
def test_nothing_follows_a_response_that_has_begun(pair: Pair, how: str) -> None:
    getattr(pair.sock(), how)(b"HTTP/1.1 200 OK\r\n")
    assert pair.report() == (0, False, b"")


def test_a_response_goes_on_when_the_worker_has_died(pair: Pair) -> None:
    pair.worker.close()
    sock = pair.sock()
    sock.send(b"HTTP/1.1 200 OK\r\n\r\n")
    send_report(pair.heavy, is_reusable=True, rest=b"")
    assert pair.caller.recv(100) == b"HTTP/1.1 200 OK\r\n\r\n"


@pytest.mark.parametrize("rest", [b"", b"GET /"])
def test_what_a_body_has_cost_is_reported(pair: Pair, rest: bytes) -> None:
    sock = pair.sock()
    sock.cost.note_cost("openai.createÄ", 5_000, 0.25)
    send_report(pair.heavy, is_reusable=True, rest=rest, lesson=sock.cost.lesson)
    assert pair.report() == (0, True, rest)
    assert pair.lesson == Lesson("openai.createÄ", 5_000, 0.25)


@pytest.mark.parametrize("size", [1, 4, 5, 30])
def test_a_report_that_breaks_off_says_nothing(pair: Pair, size: int) -> None:
    near, far = gevent.socket.socketpair()
    with near, far:
        send_report(near, is_reusable=True, rest=b"", lesson=Lesson("a", 5_000, 0.25))
        pair.heavy.sendall(far.recv(1_000)[:size])
    assert (*pair.report(), pair.lesson) == (0, False, b"", None)


def test_a_heavy_worker_passes_nothing_on(pair: Pair) -> None:
    calls = pair.sock().cost
    assert (calls.above, calls({}, b"", InternalCaller(None))) == (math.inf, None)
