"""The WebSocket handshake of a caller."""

import pytest

from engine.relay.websocket.open_sessions import SessionLimits
from engine.upstream.websockets.caller_handshake import read_handshake
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange
from tests.support.frames import KEY, Peer, accept, frame
from tests.support.session import pair
from tests.upstream.websockets.test_websocket_forward import ENVIRON, Caller


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
