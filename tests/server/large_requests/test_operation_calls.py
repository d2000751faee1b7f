"""Requests of a socket that a heavy worker serves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gevent
import pytest

from engine.exchange.caller_connection import InternalCaller
from engine.process.channel import Channel
from engine.server.large_requests.operation_calls import CallsFromSocket
from engine.server.large_requests.pass_requests import NothingPasses, Passing
from engine.values.caller import Caller
from engine.values.errors import AbortConnection, AbortReason, GatewayError
from tests.support.heavy_pair import Processes
from tests.support.waiting import PATIENCE

ENVIRON = {
    "REQUEST_METHOD": "POST",
    "RAW_URI": "/v1/responses",
    "CONTENT_TYPE": "application/json",
    "HTTP_USER_AGENT": "codex",
    "wsgi.url_scheme": "http",
}
CALLER = InternalCaller(Caller("alice"), "digest", sockets=object())  # type: ignore[arg-type]


class Streaming:
    """An application that streams `pieces`; `None` cuts the connection."""

    costly_operations = frozenset[str]()

    def __init__(self, *pieces: bytes | None) -> None:
        self.pieces, self.seen, self.closed = pieces, dict[str, Any](), False

    def on_listener(self, address: Any) -> Any:
        return self.serve

    def serve(self, environ: Any, start_response: Any, connection: Any) -> Iterator[bytes]:
        body = connection.buffered_body()
        self.seen = {"environ": environ, "body": body, "internal": connection.internal}
        start_response("200 OK", [("content-type", "text/event-stream")])
        return self.stream()

    def stream(self) -> Iterator[bytes]:
        try:
            for piece in self.pieces:
                if piece is None:
                    raise AbortConnection(AbortReason.RESPONSE_BROKE_OFF)
                yield piece
        finally:
            self.closed = True


@pytest.fixture
def processes() -> Iterator[Processes]:
    both = Processes()
    yield both
    both.close()


def calls(channel: Channel) -> CallsFromSocket:
    return CallsFromSocket(Passing(channel, 10), ("10.0.0.1", 4711), 0)


def test_a_response_has_its_status_headers_and_body(processes: Processes) -> None:
    with gevent.Timeout(PATIENCE):
        answer = calls(processes.channel)(ENVIRON, b"x" * 20, CALLER)
        assert answer is not None
        assert b"".join(answer) == b"heavy /v1/responses 10.0.0.1 20"
        assert (answer.status, dict(answer.headers)["content-length"]) == (200, "31")
        answer.close()


def test_a_stream_comes_as_it_is_made_for_the_caller_of_the_socket() -> None:
    model = Streaming(b"data: 1\n\n", b"x" * 100_000)
    processes = Processes(model)
    with gevent.Timeout(PATIENCE):
        answer = calls(processes.channel)(ENVIRON, b"x" * 1_000_000, CALLER)
        assert answer is not None
        assert b"".join(answer) == b"data: 1\n\n" + b"x" * 100_000
        answer.close()
    assert model.seen["internal"] == InternalCaller(Caller("alice"), "digest")
    assert len(model.seen["body"]) == 1_000_000
    environ = model.seen["environ"]
    assert (environ["HTTP_USER_AGENT"], environ["REMOTE_ADDR"]) == ("codex", "10.0.0.1")
    processes.close()


def test_a_response_that_breaks_off_is_no_end() -> None:
    processes = Processes(Streaming(b"data: 1\n\n", None))
    with gevent.Timeout(PATIENCE):
        answer = calls(processes.channel)(ENVIRON, b"x" * 20, CALLER)
        assert answer is not None
        with pytest.raises(AbortConnection):
            list(answer)
        answer.close()
    processes.close()


def test_a_caller_who_leaves_ends_the_response() -> None:
    model = Streaming(*[b"x" * 100_000] * 100)
    processes = Processes(model)
    with gevent.Timeout(PATIENCE):
        answer = calls(processes.channel)(ENVIRON, b"x" * 20, CALLER)
        assert answer is not None
        next(iter(answer))
        answer.close()
        while not model.closed:
            gevent.sleep(0.01)
    processes.close()


def test_a_process_that_ends_before_it_has_answered_costs_a_500(processes: Processes) -> None:
    processes.heavy.dies = True
    with gevent.Timeout(PATIENCE), pytest.raises(GatewayError) as refused:
        calls(processes.channel)(ENVIRON, b"x" * 20, CALLER)
    assert refused.value.status == 500


def test_heavy_workers_that_do_not_keep_up_refuse_with_503(processes: Processes) -> None:
    processes.listener.connections.kill()
    while processes.channel.send([0]):
        pass
    with gevent.Timeout(PATIENCE), pytest.raises(GatewayError) as refused:
        calls(processes.channel)(ENVIRON, b"x" * 20, CALLER)
    assert refused.value.status == 503


def test_without_heavy_workers_this_process_has_to_serve_it(processes: Processes) -> None:
    assert CallsFromSocket(NothingPasses(), None, 0)(ENVIRON, b"x", CALLER) is None
    assert CallsFromSocket(NothingPasses(), None, 0).above == float("inf")
