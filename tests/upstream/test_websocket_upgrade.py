"""How an upstream is asked for a WebSocket, and which answers are one."""

from __future__ import annotations

import pytest

from engine.relay.websocket.handshake import UpgradeRequest
from engine.upstream.client.failures import ProtocolFailure
from engine.upstream.websocket_upgrade import Upgrade
from tests.support.frames import KEY, accept
from tests.support.upstreams import FakeResponse

PASSING = ("realtime", "beta.*")


def upgrade(*protocols, passing=PASSING, compression=False):
    return Upgrade(UpgradeRequest(KEY, protocols, ""), passing, compression)


def fake_response(made, *more, status=101, without=""):
    key = dict(made.headers)["sec-websocket-key"]
    headers = [
        ("upgrade", "websocket"),
        ("connection", "upgrade"),
        ("sec-websocket-accept", accept(key)),
    ]
    return FakeResponse(status, [pair for pair in headers if pair[0] != without] + list(more))


def test_the_request_has_a_key_of_its_own():
    one, two = dict(upgrade().headers), dict(upgrade().headers)
    assert one["sec-websocket-key"] not in (KEY, two["sec-websocket-key"])
    assert (one["upgrade"], one["sec-websocket-version"]) == ("websocket", "13")
    assert set(one) == {"upgrade", "sec-websocket-version", "sec-websocket-key"}


def test_subprotocols_that_pass_are_offered_in_order():
    made = upgrade("org.1", "beta.x", "realtime", "other")
    assert dict(made.headers)["sec-websocket-protocol"] == "beta.x, realtime"
    assert "sec-websocket-protocol" not in dict(upgrade("org.1").headers)


@pytest.mark.parametrize(
    ("offered", "chosen", "answered"),
    [
        ((), "", ""),
        (("realtime",), "", "realtime"),
        (("org.1", "beta.x", "realtime"), "", "beta.x"),
        (("beta.x", "realtime"), "realtime", "realtime"),
        (("org.1", "org.2"), "", ""),
    ],
)
def test_the_subprotocol_for_the_caller(offered, chosen, answered):
    made = upgrade(*offered)
    more = [("sec-websocket-protocol", chosen)] if chosen else []
    made.check(given := fake_response(made, *more))
    assert (made.caller_protocol, made.response) == (answered, given)


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
def test_an_answer_that_is_no_websocket(more, status, without):
    made = upgrade("org.1", "realtime")
    with pytest.raises(ProtocolFailure) as raised:
        made.check(fake_response(made, *more, status=status, without=without))
    assert (raised.value.response_started, made.response) == (True, None)


def test_another_accept_is_refused():
    made = upgrade()
    with pytest.raises(ProtocolFailure, match="Accept"):
        made.check(fake_response(upgrade()))


def test_compression_is_offered_where_the_route_says_so():
    made = upgrade(compression=True)
    assert "permessage-deflate" in dict(made.headers)["sec-websocket-extensions"]
    taken = "permessage-deflate; server_max_window_bits=12; client_max_window_bits=12"
    made.check(fake_response(made, ("sec-websocket-extensions", taken)))
    assert len(made.extensions) == 1
