"""Taking over the connection of a caller."""

import pytest

from engine.exchange.caller_connection import NO_CONNECTION
from engine.relay.websocket.connection_upgrade import require_take_over, send_head
from engine.values.errors import AbortConnection, AbortReason, GatewayError


class Socket:
    def __init__(self, error=None):
        self.error, self.sent = error, b""

    def settimeout(self, seconds):
        assert seconds > 0

    def sendall(self, data):
        if self.error is not None:
            raise self.error
        self.sent += data


def test_a_server_that_keeps_its_connections_is_501():
    with pytest.raises(GatewayError) as refused:
        require_take_over(NO_CONNECTION)
    assert refused.value.status == 501


def test_the_head_is_sent():
    sock = Socket()
    send_head(sock, b"HTTP/1.1 101")
    assert sock.sent == b"HTTP/1.1 101"


def test_a_caller_that_left_before_is_an_abort():
    with pytest.raises(AbortConnection) as abort:
        send_head(Socket(BrokenPipeError()), b"")
    assert abort.value.reason == AbortReason.CALLER_LEFT
