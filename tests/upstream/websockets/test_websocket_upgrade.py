"""The upgrade request to an upstream, and which responses complete it."""

from __future__ import annotations

import pytest

from engine.relay.websocket.handshake import UpgradeRequest
from engine.upstream.client.failures import ProtocolFailure
from engine.upstream.websockets.websocket_upgrade import Upgrade
from tests.support.frames import KEY, accept
from tests.support.upstreams import FakeResponse

PASSING = ("realtime", "beta.*")


def upgrade(*protocols, allowed=PASSING, compression=False):
    return Upgrade(UpgradeRequest(KEY, protocols, ""), allowed, compression)


def fake_response(requested, *more, status=101, without=""):
    key = dict(requested.headers)["sec-websocket-key"]
    headers = [
        ("upgrade", "websocket"),
        ("connection", "upgrade"),
        ("sec-websocket-accept", accept(key)),
    ]
    return FakeResponse(status, [pair for pair in headers if pair[0] != without] + list(more))


def test_each_request_has_a_new_key():
    first, second = dict(upgrade().headers), dict(upgrade().headers)
    assert first["sec-websocket-key"] not in (KEY, second["sec-websocket-key"])
    assert (first["upgrade"], first["sec-websocket-version"]) == ("websocket", "13")
    assert set(first) == {"upgrade", "sec-websocket-version", "sec-websocket-key"}


def test_subprotocols_that_pass_are_offered_in_order():
    requested = upgrade("org.1", "beta.x", "realtime", "other")
    assert dict(requested.headers)["sec-websocket-protocol"] == "beta.x, realtime"
    assert "sec-websocket-protocol" not in dict(upgrade("org.1").headers)


@pytest.mark.parametrize(
    ("offered", "choice", "expected"),
    [
        ((), "", ""),
        (("realtime",), "", "realtime"),
        (("org.1", "beta.x", "realtime"), "", "beta.x"),
        (("beta.x", "realtime"), "realtime", "realtime"),
        (("org.1", "org.2"), "", ""),
    ],
)
def test_the_subprotocol_for_the_caller(offered, choice, expected):
    requested = upgrade(*offered)
    more = [("sec-websocket-protocol", choice)] if choice else []
    response = fake_response(requested, *more)
    requested.check(response)
    assert (requested.caller_protocol, requested.response) == (expected, response)


@pytest.mark.parametrize(
    ("more", "status", "without"),
    [
        ((), 200, ""),
        ((), 204, ""),
        ((), 101, "upgrade"),
        ((), 101, "sec-websocket-accept"),
        ([("sec-websocket-protocol", "org.1")], 101, ""),
        ([("sec-websocket-protocol", "x")], 101, ""),
        ([("sec-websocket-protocol", "realtime"), ("sec-websocket-protocol", "realtime")], 101, ""),
        ([("sec-websocket-extensions", "permessage-deflate")], 101, ""),
    ],
)
def test_a_response_that_is_not_a_websocket(more, status, without):
    requested = upgrade("org.1", "realtime")
    with pytest.raises(ProtocolFailure) as excinfo:
        requested.check(fake_response(requested, *more, status=status, without=without))
    assert (excinfo.value.response_started, requested.response) == (True, None)


def test_a_wrong_accept_is_refused():
    requested = upgrade()
    with pytest.raises(ProtocolFailure, match="Accept"):
        requested.check(fake_response(upgrade()))


def test_compression_is_offered_if_the_route_has_it():
    requested = upgrade(compression=True)
    assert "permessage-deflate" in dict(requested.headers)["sec-websocket-extensions"]
    agreement = "permessage-deflate; server_max_window_bits=12; client_max_window_bits=12"
    requested.check(fake_response(requested, ("sec-websocket-extensions", agreement)))
    assert len(requested.extensions) == 1
