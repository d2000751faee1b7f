"""The requests of a connection, one after the other."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import gevent
import gevent.socket
import pytest

from engine.exchange.exchange import Response
from engine.server import connection_handler
from engine.server.connection_admission import IdleConnections
from engine.server.connection_handler import ConnectionHandler, HTTPSettings, closing
from engine.server.environ import SchemeHeaders
from engine.server.http1.request import Limits
from engine.values.errors import AbortConnection, AbortReason, GatewayError
from tests.support.waiting import PATIENCE

GET = b"GET /%d HTTP/1.1\r\nHost: h\r\n\r\n"
LOG = logging.getLogger("gunicorn.error")


class Application:
    """Answers with the path. `refused` are the refusals that it was asked for."""

    costly_operations = frozenset[str]()

    def __init__(self, answer: Any = None) -> None:
        self.refused: list[tuple[int, str, str]] = []
        self.failed = 0
        self.listeners: list[Any] = []
        self._answer = answer

    def on_listener(self, address: Any) -> Any:
        self.listeners.append(address)
        return self.serve

    def serve(self, environ: Any, start_response: Any, connection: Any) -> Any:
        if self._answer is not None:
            return self._answer(environ, start_response)
        start_response("200 OK", [("content-length", "2")])
        return [environ["PATH_INFO"].encode()]

    def refuse(self, error: GatewayError, address: str) -> Response:
        self.refused.append((error.status, error.code, address))
        return Response(error.status, [("content-length", "2")], b"no")

    def fail(self) -> Response:
        self.failed += 1
        return Response(500, [("content-length", "2")], b"no")


class Connection:
    """A connection that a handler serves."""

    def __init__(self, application: Any, more: bool = True) -> None:
        self.idle = IdleConnections()
        settings = HTTPSettings(Limits(), SchemeHeaders({}, []), {})
        self.requests = 0
        handler = ConnectionHandler(
            application, ("127.0.0.1", 80), self.idle, settings, lambda: self._begin(more), LOG
        )
        near, self.far = gevent.socket.socketpair()
        self.serving = gevent.spawn(handler, near, ("10.0.0.1", 4711))

    def _begin(self, more: bool) -> bool:
        self.requests += 1
        return more

    def talk(self, *data: bytes) -> bytes:
        """What is answered to all of it until the connection is closed."""
        for piece in data:
            self.far.sendall(piece)
        self.far.shutdown(1)
        answers = b""
        with gevent.Timeout(PATIENCE):
            while piece := self.far.recv(65_536):
                answers += piece
        return answers

    def close(self) -> None:
        self.far.close()
        self.serving.join(PATIENCE)
        assert len(self.idle) == 0


@pytest.fixture
def connect() -> Iterator[Any]:
    connections: list[Connection] = []

    def connection(application: Any, **settings: Any) -> Connection:
        connections.append(Connection(application, **settings))
        return connections[-1]

    yield connection
    for each in connections:
        each.close()


def statuses(answers: bytes) -> list[bytes]:
    return [part[:3] for part in answers.split(b"HTTP/1.1 ")[1:]]


def test_requests_are_answered_one_after_the_other(connect: Any) -> None:
    connection = connect(Application())
    answers = connection.talk(GET % 1 + GET % 2, GET % 3)
    assert statuses(answers) == [b"200"] * 3
    assert [answers.count(b"\r\n\r\n/%d" % number) for number in (1, 2, 3)] == [1, 1, 1]
    assert connection.requests == 3


def test_requests_that_came_together_leave_others_their_turn(
    connect: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_handler, "SECONDS", -1.0)  # each takes longer than this
    order: list[str] = []

    def answer(environ: Any, start_response: Any) -> Any:
        order.append(environ["PATH_INFO"])
        start_response("200 OK", [("content-length", "0")])
        return []

    many, other = connect(Application(answer)), connect(Application(answer))
    many.far.sendall(b"".join(GET % number for number in range(100)))
    other.far.sendall(GET % 1_000)
    many.talk()
    assert len(order) == 101
    assert order.index("/1000") < 10


def test_a_connection_waits_for_a_request_as_an_idle_one(connect: Any) -> None:
    connection = connect(Application())
    gevent.sleep(0)
    assert len(connection.idle) == 1


def test_a_connection_of_a_worker_that_stops_carries_one_request(connect: Any) -> None:
    connection = connect(Application(), more=False)
    answers = connection.talk(GET % 1 + GET % 2)
    assert statuses(answers) == [b"200"]
    assert b"Connection: close" in answers


def test_an_invalid_request_is_refused_and_ends_the_connection(connect: Any) -> None:
    application = Application()
    assert statuses(connect(application).talk(GET % 1 + b"nonsense\r\n\r\n" + GET % 2)) == [
        b"200",
        b"400",
    ]
    assert application.refused == [(400, "bad_request", "10.0.0.1")]


def test_a_caller_who_closes_in_a_head_gets_nothing(connect: Any) -> None:
    application = Application()
    assert connect(application).talk(b"GET / HT") == b""
    assert application.refused == []


def test_a_response_whose_head_cannot_be_sent_is_one_500_and_not_recorded_again(
    connect: Any, caplog: pytest.LogCaptureFixture
) -> None:
    application = Application(lambda _, start: start("200 OK", [("Not-Lower-Case", "1")]))
    assert statuses(connect(application).talk(GET % 1 + GET % 2)) == [b"500"]
    assert (application.failed, application.refused) == (1, [])


def _breaks_off(error: BaseException) -> Any:
    def answer(_: Any, start_response: Any) -> Iterator[bytes]:
        start_response("200 OK", [])
        yield b"a"
        raise error

    return answer


@pytest.mark.parametrize(
    "error",
    [
        AbortConnection(AbortReason.RESPONSE_BROKE_OFF),
        TimeoutError(),
        ZeroDivisionError(),
        gevent.GreenletExit(),
    ],
)
def test_a_stream_that_breaks_off_is_cut_and_never_ended(
    connect: Any, error: BaseException
) -> None:
    application = Application(_breaks_off(error))
    answers = connect(application).talk(GET % 1 + GET % 2)
    assert answers.endswith(b"\r\n\r\n1\r\na\r\n")
    assert (application.failed, application.refused) == (0, [])


def test_a_caller_has_time_to_read_the_end_of_what_breaks_off(
    connect: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_handler, "TIME_TO_READ", PATIENCE)
    broken = AbortConnection(AbortReason.RESPONSE_BROKE_OFF)
    far = connect(Application(_breaks_off(broken))).far
    far.sendall(GET % 1)
    received = b""
    with gevent.Timeout(PATIENCE):
        while not received.endswith(b"a\r\n"):
            received += far.recv(65_536)
        far.settimeout(0.05)
        with pytest.raises(TimeoutError):
            far.recv(1)
        far.settimeout(None)
        far.shutdown(1)  # as a caller who has seen an error event
        assert far.recv(1) == b""


def test_the_iterable_of_a_response_is_closed(connect: Any) -> None:
    closed: list[int] = []

    class Pieces(list[bytes]):
        def close(self) -> None:
            closed.append(1)

    def answer(_: Any, start_response: Any) -> Any:
        start_response("200 OK", [("content-length", "1")])
        return Pieces([b"a"])

    connect(Application(answer)).talk(GET % 1)
    assert closed == [1]


def test_a_refusal_is_a_complete_response_that_closes_the_connection() -> None:
    data = closing(Response(503, [("content-length", "2"), ("retry-after", "1")], b"no"))
    assert data.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert b"\r\nConnection: close\r\n" in data
    assert data.endswith(b"\r\nretry-after: 1\r\n\r\nno")
