"""The handler of a WebSocket route: from the upstream's 101 to the end of the session."""

from __future__ import annotations

import io
import logging
from typing import Any

import gevent
import orjson
import pytest

from engine import dialects
from engine.exchange.caller_connection import WSGIConnection
from engine.exchange.exchange import Exchange, Response
from engine.relay.websocket.open_sessions import SessionLimits, Sessions
from engine.upstream.websockets.websocket_forward import converse, upgrade_or_http
from engine.values.errors import AbortConnection, GatewayError
from tests.support.exchanges import new_exchange
from tests.support.frames import KEY, Peer, accept, frame
from tests.support.session import PATIENCE, pair

OPENAI = dialects.get("openai")
ENVIRON = {
    "REQUEST_METHOD": "GET",
    "SERVER_PROTOCOL": "HTTP/1.1",
    "HTTP_UPGRADE": "websocket",
    "HTTP_CONNECTION": "Upgrade",
    "HTTP_SEC_WEBSOCKET_VERSION": "13",
    "HTTP_SEC_WEBSOCKET_KEY": KEY,
}


class Switched:
    """An upstream's answer of 101 on a socket."""

    def __init__(self, sock: Any, leftover: bytes = b"") -> None:
        self.sock, self.leftover = sock, leftover

    def detach(self) -> tuple[Any, bytes]:
        return self.sock, self.leftover


class Caller(WSGIConnection):
    """A caller's connection that can be taken over; `early` arrived after the request."""

    can_take_over = True

    def __init__(self, sock: Any, early: bytes = b"") -> None:
        super().__init__(io.BytesIO())
        self._parts = sock, early

    def take_over(self) -> tuple[Any, bytes]:
        return self._parts


class Setting:
    """An exchange whose caller and upstream a test plays; `run` runs its handler."""

    def __init__(
        self, leftover: bytes = b"", early: bytes = b"", limits: SessionLimits | None = None
    ):
        near, self.caller = pair()
        self.sock, self.upstream = pair()
        self.near = near
        self.exchange = new_exchange("GET", "/", "", ENVIRON, connection=Caller(near, early))
        self.sessions = Sessions()

        def forward(exchange: Exchange) -> Response:
            exchange.upgrade.response = Switched(self.sock, leftover)
            return Response(101, [("x-hint", "yes")])

        self.handler = converse(forward, OPENAI, limits or SessionLimits(), self.sessions)

    def run(self) -> Any:
        def work() -> AbortConnection:
            with pytest.raises(AbortConnection) as excinfo:
                self.handler(self.exchange)
            self.near.close()
            return excinfo.value

        return gevent.spawn(work)

    def head(self) -> tuple[bytes, Peer]:
        data = b""
        while b"\r\n\r\n" not in data:
            data += self.caller.recv(65_536)
        head, _, following = data.partition(b"\r\n\r\n")
        return head, Peer(self.caller, client=True, first=following)


def test_a_session_from_its_beginning_to_its_end():
    usage = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
    usage_event = orjson.dumps({"type": "response.done", "response": {"usage": usage}})
    setting = Setting(leftover=frame(1, b"{}"), early=frame(1, b"early", mask=b"abcd"))
    running = setting.run()
    head, caller = setting.head()
    assert head.startswith(b"HTTP/1.1 101 ")
    assert f"Sec-WebSocket-Accept: {accept(KEY)}".encode() in head
    assert b"\r\nx-hint: yes\r\nx-request-id: req_1" in head
    upstream = Peer(setting.upstream, client=False)
    assert caller.next().data == b"{}"
    assert upstream.next().data == b"early"
    for _ in range(2):
        upstream.send(1, usage_event)
        assert caller.next().data == usage_event
    caller.close(1000)
    assert upstream.closed() == (1000, "")
    upstream.close(1000)
    setting.upstream.close()
    assert caller.closed() == (1000, "")
    caller.sock.close()
    running.get(timeout=PATIENCE)
    traffic = setting.exchange.record.traffic
    assert (traffic.sent.messages, traffic.sent.bytes) == (1, 5)
    assert traffic.received.messages == 3
    assert traffic.usage.input + traffic.usage.output == 6
    assert (traffic.code, traffic.outcome) == (1000, "complete")
    assert len(setting.sessions) == 0
    assert setting.sock.fileno() == -1


def test_the_upstream_is_closed_if_the_caller_left_before_the_upgrade():
    setting = Setting()
    setting.near.close()
    with pytest.raises(AbortConnection):
        setting.handler(setting.exchange)
    assert setting.sock.fileno() == -1
    assert setting.exchange.record.traffic is None


def test_an_exception_in_a_session_is_logged_and_ends_it(caplog):
    setting = Setting()

    def fail(session):
        raise RuntimeError("a fault of ours")

    setting.sessions.run = fail
    with caplog.at_level(logging.ERROR), pytest.raises(AbortConnection):
        setting.handler(setting.exchange)
    assert "req_1 failed in its session" in caplog.text
    assert setting.sock.fileno() == -1


def test_a_refusal_of_the_upstream_is_returned():
    refusal = Response(404, [], b"{}")
    handler = converse(lambda exchange: refusal, OPENAI, SessionLimits(), Sessions())
    exchange = new_exchange("GET", "/", "", ENVIRON, connection=Caller(None))
    assert handler(exchange) is refusal


def test_an_invalid_upgrade_request_reaches_no_upstream():
    def forward(exchange: Exchange) -> Response:
        raise AssertionError("an upstream was reached")

    handler = converse(forward, OPENAI, SessionLimits(compression=True), Sessions())
    for change, status in (
        ({"HTTP_UPGRADE": ""}, 426),
        ({"HTTP_SEC_WEBSOCKET_KEY": ""}, 400),
        ({"HTTP_SEC_WEBSOCKET_EXTENSIONS": ";"}, 400),
        ({"wsgi.input": io.BytesIO()}, 501),  # a server that keeps its socket
    ):
        with pytest.raises(GatewayError) as excinfo:
            handler(new_exchange("GET", "/", "", {**ENVIRON, **change}))
        assert excinfo.value.status == status


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, "http"),
        ({"HTTP_UPGRADE": "h2c", "HTTP_CONNECTION": "Upgrade"}, "http"),
        ({"HTTP_UPGRADE": "websocket"}, "upgrade"),
        ({"HTTP_SEC_WEBSOCKET_KEY": KEY}, "upgrade"),
    ],
)
def test_the_request_decides_between_an_upgrade_and_http(headers, expected):
    def answer(name: str) -> Any:
        return lambda exchange: Response(200, [], name.encode())

    handler = upgrade_or_http(answer("upgrade"), answer("http"))
    exchange = new_exchange("GET", "/", "", {"REQUEST_METHOD": "GET", **headers})
    assert handler(exchange).body == expected.encode()
