"""A WebSocket whose first message is the body of the request."""

from __future__ import annotations

from typing import Any

import gevent
import orjson
import pytest

from engine import dialects
from engine.exchange.exchange import Exchange, Response
from engine.exchange.outcome import Outcome, TokenRevoked
from engine.exchange.request_record import Traffic
from engine.relay.websocket.open_sessions import SessionLimits
from engine.upstream.websockets.first_message import read_handshake, receive_first
from engine.values.errors import AbortConnection, AbortReason, GatewayError
from tests.support.exchanges import new_exchange
from tests.support.frames import KEY, Peer, accept, frame
from tests.support.session import PATIENCE, pair
from tests.upstream.websockets.test_websocket_forward import ENVIRON, Caller

GEMINI = dialects.get("gemini")
MESSAGE = b'{"setup": {"model": "models/m"}}'


class Opening:
    """A caller that opens a session; `following` stands for the stages behind the first message."""

    def __init__(self, following: Any, *, seconds: float = PATIENCE, max_size: int = 1_000) -> None:
        self.near, far = pair()
        self.far = far
        self.exchange = new_exchange("GET", "/", "", ENVIRON, connection=Caller(self.near))
        stage = receive_first(GEMINI, SessionLimits(), max_size, seconds)
        self.running = gevent.spawn(self._run, stage, following)
        head = b""
        while b"\r\n\r\n" not in head:
            head += far.recv(1)
        assert head.startswith(b"HTTP/1.1 101 ")
        self.peer = Peer(far, client=True)

    def _run(self, stage: Any, following: Any) -> AbortConnection:
        with pytest.raises(AbortConnection) as raised:
            stage(self.exchange, following)
        return raised.value

    def ended(self) -> tuple[int, str]:
        """How the session was closed; it is over then."""
        closed = self.peer.closed()
        self.peer.close(1000)
        self.over()
        return closed

    def over(self) -> None:
        assert self.running.get(timeout=PATIENCE).reason in (
            AbortReason.SESSION_ENDED,
            AbortReason.CALLER_LEFT,
        )
        self.near.close()
        self.far.close()


def refusing(error: GatewayError) -> Any:
    def refuse(exchange: Exchange) -> Response:
        raise error

    return refuse


def test_the_first_message_is_a_body_of_json():
    bodies = []

    def following(exchange: Exchange) -> Response:
        body = exchange.body_reader.receive()
        bodies.append((bytes(body.buffer), exchange.header("CONTENT_TYPE")))
        return Response(502, [], b"")

    opening = Opening(following)
    opening.peer.send(1, MESSAGE[:9], fin=False)
    opening.peer.send(0, MESSAGE[9:])
    opening.ended()
    assert bodies == [(MESSAGE, "application/json")]


@pytest.mark.parametrize(
    ("status", "code"), [(400, 1007), (403, 1008), (404, 1008), (429, 1013), (502, 1011)]
)
def test_a_refusal_is_a_close_frame_and_a_record(status: int, code: int) -> None:
    opening = Opening(refusing(GatewayError(status, "some_code", "Not so.")))
    opening.peer.send(2, MESSAGE)
    assert opening.ended() == (code, "Not so.")
    record = opening.exchange.record
    assert (record.status, record.code) == (status, "some_code")
    assert record.outcome is Outcome.of_status(status)
    assert record.traffic is not None
    assert record.traffic.code == code


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (orjson.dumps({"error": {"message": "No such model."}}), "No such model."),
        ([b"<ht", b"ml>"], "The upstream has answered 403 in place of a session."),
    ],
)
def test_an_upstream_s_refusal_is_one_too(body: Any, reason: str) -> None:
    opening = Opening(lambda exchange: Response(403, [], body))
    opening.peer.send(1, MESSAGE)
    assert opening.ended() == (1008, reason)


def test_a_first_message_must_come_in_time() -> None:
    opening = Opening(refusing(GatewayError(500, "never", "")), seconds=0.01)
    assert opening.ended() == (1008, "No message has come for 0.01 seconds.")
    assert opening.exchange.record.status == 408


def test_a_first_message_is_bounded() -> None:
    opening = Opening(refusing(GatewayError(500, "never", "")), max_size=10)
    opening.peer.send(1, MESSAGE)
    assert opening.ended() == (1009, "The first message is larger than 10 bytes.")


def test_a_caller_may_leave_before_it_says_anything() -> None:
    opening = Opening(refusing(GatewayError(500, "never", "")))
    opening.peer.close(1000)
    opening.over()
    assert opening.exchange.record.status == 0


def test_a_revoked_token_ends_it_before_the_first_message() -> None:
    opening = Opening(refusing(GatewayError(500, "never", "")))
    opening.running.kill(TokenRevoked, block=False)
    code, reason = opening.ended()
    assert code == 1008
    assert "revoked" in reason
    assert opening.exchange.record.outcome is Outcome.REVOKED


def test_a_session_that_is_killed_is_left_alone() -> None:
    def following(exchange: Exchange) -> Response:
        exchange.record.traffic = Traffic()
        raise gevent.GreenletExit

    near, far = pair()
    exchange = new_exchange("GET", "/", "", ENVIRON, connection=Caller(near))
    stage = receive_first(GEMINI, SessionLimits(), 1_000, PATIENCE)
    Peer(far, client=True).send(1, MESSAGE)
    with pytest.raises(gevent.GreenletExit):
        stage(exchange, following)
    near.close()
    far.close()


def test_it_is_accepted_with_headers_and_what_was_sent_early():
    near, far = pair()
    early = frame(1, b"early", mask=b"abcd")
    exchange = new_exchange("GET", "/", "", ENVIRON, connection=Caller(near, early))
    channel = read_handshake(exchange, SessionLimits()).accept(exchange, "chat", [("x-a", "b")])
    head = far.recv(65_536)
    assert head.startswith(b"HTTP/1.1 101 ")
    for line in (f"Sec-WebSocket-Accept: {accept(KEY)}", "Sec-WebSocket-Protocol: chat", "x-a: b"):
        assert f"\r\n{line}\r\n".encode() in head
    assert bytes(next(channel.frames()).data) == b"early"
    channel.send_text(b"late")
    assert Peer(far, client=True).next().data == b"late"
    near.close()
    far.close()


@pytest.mark.parametrize(
    ("changes", "status"),
    [({"HTTP_UPGRADE": "h2c"}, 426), ({"HTTP_SEC_WEBSOCKET_KEY": "short"}, 400)],
)
def test_an_invalid_one_is_refused(changes, status):
    near, far = pair()
    exchange = new_exchange("GET", "/", "", ENVIRON | changes, connection=Caller(near))
    with pytest.raises(GatewayError) as raised:
        read_handshake(exchange, SessionLimits())
    assert raised.value.status == status
    near.close()
    far.close()


def test_a_server_must_hand_over_its_connection():
    with pytest.raises(GatewayError) as raised:
        read_handshake(new_exchange("GET", "/", "", ENVIRON), SessionLimits())
    assert raised.value.status == 501
