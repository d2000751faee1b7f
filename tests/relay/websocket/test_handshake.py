"""The request that asks for a WebSocket, and what is agreed on (RFC 6455 4, RFC 7692 7)."""

from __future__ import annotations

import pytest

from engine.exchange.caller_connection import NO_CONNECTION
from engine.relay.websocket.handshake import (
    answer_to,
    deflate_offer,
    negotiate_deflate,
    negotiated_deflate,
    new_key,
    parse_request,
    require_take_over,
    send_head,
    subprotocols_of,
    switching_protocols,
)
from engine.values.errors import AbortConnection, AbortReason, GatewayError
from tests.support.frames import KEY, accept

RIGHT = {
    "REQUEST_METHOD": "GET",
    "SERVER_PROTOCOL": "HTTP/1.1",
    "HTTP_UPGRADE": "websocket",
    "HTTP_CONNECTION": "Upgrade",
    "HTTP_SEC_WEBSOCKET_VERSION": "13",
    "HTTP_SEC_WEBSOCKET_KEY": KEY,
}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"HTTP_UPGRADE": "WebSocket"},
        {"HTTP_UPGRADE": "h2c, websocket"},
        {"HTTP_CONNECTION": "keep-alive, upgrade"},
        {"CONTENT_LENGTH": "0"},
        {"CONTENT_TYPE": "application/json"},
    ],
)
def test_a_valid_handshake_is_parsed(more):
    assert parse_request({**RIGHT, **more}) == (KEY, (), "")


def test_offered_subprotocols_are_read():
    protocols = "realtime,  a.b ,,c"
    offer = parse_request(
        {
            **RIGHT,
            "HTTP_SEC_WEBSOCKET_PROTOCOL": protocols,
            "HTTP_SEC_WEBSOCKET_EXTENSIONS": "permessage-deflate",
        }
    )
    assert offer.protocols == ("realtime", "a.b", "c")
    assert offer.extensions == "permessage-deflate"


@pytest.mark.parametrize(
    ("more", "status", "code"),
    [
        ({"HTTP_UPGRADE": None}, 426, "upgrade_required"),
        ({"HTTP_UPGRADE": "h2c"}, 426, "upgrade_required"),
        ({"HTTP_UPGRADE": "websockets"}, 426, "upgrade_required"),
        ({"HTTP_CONNECTION": None}, 400, "invalid_handshake"),
        ({"HTTP_CONNECTION": "keep-alive"}, 400, "invalid_handshake"),
        ({"REQUEST_METHOD": "POST"}, 400, "invalid_handshake"),
        ({"SERVER_PROTOCOL": "HTTP/1.0"}, 400, "invalid_handshake"),
        ({"CONTENT_LENGTH": "2"}, 400, "invalid_handshake"),
        ({"HTTP_TRANSFER_ENCODING": "chunked"}, 400, "invalid_handshake"),
        ({"HTTP_SEC_WEBSOCKET_VERSION": None}, 426, "upgrade_required"),
        ({"HTTP_SEC_WEBSOCKET_VERSION": "8"}, 426, "upgrade_required"),
        ({"HTTP_SEC_WEBSOCKET_VERSION": "13, 8"}, 426, "upgrade_required"),
        ({"HTTP_SEC_WEBSOCKET_KEY": None}, 400, "invalid_handshake"),
        ({"HTTP_SEC_WEBSOCKET_KEY": "c2hvcnQ="}, 400, "invalid_handshake"),
        ({"HTTP_SEC_WEBSOCKET_KEY": KEY + "A"}, 400, "invalid_handshake"),
        ({"HTTP_SEC_WEBSOCKET_KEY": f"{KEY},{KEY}"}, 400, "invalid_handshake"),
        ({"HTTP_SEC_WEBSOCKET_KEY": "é" * 24}, 400, "invalid_handshake"),
        ({"HTTP_SEC_WEBSOCKET_PROTOCOL": "a b"}, 400, "invalid_handshake"),
        ({"HTTP_SEC_WEBSOCKET_PROTOCOL": "secret;token"}, 400, "invalid_handshake"),
    ],
)
def test_an_invalid_handshake_is_refused(more, status, code):
    environ = {key: value for key, value in {**RIGHT, **more}.items() if value is not None}
    with pytest.raises(GatewayError) as raised:
        parse_request(environ)
    error = raised.value
    assert (error.status, error.code) == (status, code)
    assert "secret" not in error.message
    assert (("upgrade", "websocket") in error.headers) is (status == 426)
    wrong_version = "HTTP_SEC_WEBSOCKET_VERSION" in more
    assert (("sec-websocket-version", "13") in error.headers) is wrong_version


def test_nothing_offered():
    assert subprotocols_of({}) == subprotocols_of({"HTTP_SEC_WEBSOCKET_PROTOCOL": ""}) == ()


def test_the_answer_is_that_of_the_standard():
    assert answer_to(KEY) == accept(KEY) == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    head = switching_protocols(KEY, "realtime", "permessage-deflate", [("x-request-id", "req_1")])
    assert head == (
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
        b"Sec-WebSocket-Protocol: realtime\r\n"
        b"Sec-WebSocket-Extensions: permessage-deflate\r\nx-request-id: req_1\r\n\r\n"
    )
    assert b"Protocol:" not in switching_protocols(KEY)


def test_keys_are_random_and_of_the_right_length():
    keys = {new_key() for _ in range(20)}
    assert len(keys) == 20
    assert all(parse_request({**RIGHT, "HTTP_SEC_WEBSOCKET_KEY": key}) for key in keys)


@pytest.mark.parametrize(
    ("offer", "agreed"),
    [
        ("", False),
        ("permessage-deflate", True),
        ("x-other, permessage-deflate; client_max_window_bits", True),
        ("permessage-deflate; unheard_of", False),
        ("permessage-deflate; unheard_of, permessage-deflate", True),
        ("x-other", False),
    ],
)
def test_compression_is_agreed_on_with_a_client_that_offers_it(offer, agreed):
    headers, extensions = negotiate_deflate(offer)
    assert (bool(headers), len(extensions)) == (agreed, int(agreed))
    if agreed:
        assert headers.startswith("permessage-deflate")


def test_an_offer_that_cannot_be_read_is_refused():
    with pytest.raises(GatewayError) as raised:
        negotiate_deflate("permessage-deflate;;=")
    assert raised.value.status == 400


def test_an_offered_extension_can_be_accepted():
    headers, _ = negotiate_deflate(deflate_offer())
    assert len(negotiated_deflate([headers], True)) == 1
    assert negotiated_deflate([], True) == negotiated_deflate([], False) == ()


@pytest.mark.parametrize(
    ("response_headers", "was_offered"),
    [
        (["permessage-deflate"], False),
        (["x-other"], True),
        (["permessage-deflate", "permessage-deflate"], True),
        (["permessage-deflate; server_max_window_bits=99"], True),
        (["permessage-deflate; server_max_window_bits=15"], True),
        (["=;"], True),
    ],
)
def test_an_extension_that_was_not_offered_is_refused(response_headers, was_offered):
    with pytest.raises(ValueError, match="offered"):
        negotiated_deflate(response_headers, was_offered)


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
