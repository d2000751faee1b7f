"""The upgrade: what the requests of a socket are made from."""

import pytest

from engine import dialects
from engine.exchange.exchange import Exchange
from engine.exchange.stage_services import Services
from engine.relay.websocket.open_sessions import SessionLimits, Sessions
from engine.sockets.upgrade import (
    LaneSockets,
    ResponsesSockets,
    SocketSettings,
    request_environ,
)
from engine.values.errors import GatewayError

ENVIRON = {
    "REQUEST_METHOD": "GET",
    "SERVER_PROTOCOL": "HTTP/1.1",
    "REMOTE_ADDR": "192.0.2.1",
    "HTTP_UPGRADE": "websocket",
    "HTTP_CONNECTION": "Upgrade",
    "HTTP_ACCEPT_ENCODING": "br",
    "HTTP_IDEMPOTENCY_KEY": "k",
    "HTTP_SEC_WEBSOCKET_VERSION": "13",
    "HTTP_SEC_WEBSOCKET_KEY": "dGhlIHNhbXBsZSBub25jZQ==",
    "HTTP_SESSION_ID": "s",
    "HTTP_USER_AGENT": "codex",
    "wsgi.input": object(),
}


def exchange(**environ):
    openai = dialects.get("openai")
    return Exchange("GET", "/v1/responses", "a=1", {**ENVIRON, **environ}, openai)


def test_a_request_has_the_headers_of_the_upgrade_without_those_of_a_websocket():
    environ = request_environ(exchange())
    headers = {"HTTP_SESSION_ID": "s", "HTTP_USER_AGENT": "codex", "REMOTE_ADDR": "192.0.2.1"}
    assert {name: environ[name] for name in headers} == headers
    assert environ["REQUEST_METHOD"] == "POST"
    assert environ["CONTENT_TYPE"] == "application/json"
    assert (environ["RAW_URI"], environ["QUERY_STRING"]) == ("/v1/responses?a=1", "a=1")
    others = {"HTTP_UPGRADE", "HTTP_CONNECTION", "HTTP_ACCEPT_ENCODING", "HTTP_IDEMPOTENCY_KEY"}
    assert not (others | {"wsgi.input"}) & environ.keys()
    assert not [name for name in environ if "WEBSOCKET" in name]


def handler():
    sockets = ResponsesSockets(lambda *_: None, Services(), Sessions())
    settings = SocketSettings(dialects.get("openai"), SessionLimits(), 1000)
    return sockets.handler(settings)


@pytest.mark.parametrize(
    ("environ", "status"),
    [({"HTTP_UPGRADE": ""}, 426), ({"HTTP_SEC_WEBSOCKET_KEY": "x"}, 400), ({}, 501)],
)
def test_what_cannot_be_upgraded_is_refused_before(environ, status):
    with pytest.raises(GatewayError) as refused:
        handler()(exchange(**environ))
    assert refused.value.status == status


class Upstreams:
    def __init__(self):
        self.closed = False

    def close(self):
        self.closed = True


def test_each_lane_has_sockets_of_its_own():
    lanes = LaneSockets(Upstreams)
    first, second = lanes.of(""), lanes.of("a")
    assert first is lanes.of("")
    assert first is not second
    lanes.close()
    assert first.closed
    assert second.closed


def test_a_lane_may_have_none():
    assert LaneSockets(None).of("") is None
