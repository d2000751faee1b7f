"""Requests over a WebSocket to an upstream: what it gets, and when it is asked by HTTP instead."""

import json
from contextlib import contextmanager

import orjson
import pytest

from engine.upstream.client.client import Client
from engine.upstream.client.deadlines import Timeouts
from engine.upstream.client.failures import ProtocolFailure, Reset
from engine.upstream.websockets.responses_socket import RefusedUpgrades, UpstreamSockets
from engine.values.upstream_request import UpstreamRequest
from tests.support.recording import answer, recorder
from tests.support.responses_upstream import ResponsesUpstream

HEADERS = [("authorization", "Bearer x"), ("content-type", "application/json")]


def speak(received, sock):
    """A model whose response has as id the number of its items."""
    items = json.loads(received.body)["input"]
    output = [{"type": "message", "id": f"m{len(items)}", "content": []}]
    response = {"id": f"resp_{len(items)}", "output": output}
    events = [{"type": "response.created"}, {"type": "response.completed", "response": response}]
    data = b"".join(
        b"event: %b\ndata: %b\n\n" % (event["type"].encode(), orjson.dumps(event))
        for event in events
    )
    answer(data, ["Content-Type: text/event-stream"])(received, sock)


class Caller:
    """A lane of a caller's socket, with the client of one upstream."""

    def __init__(self, url, refused=None):
        self.refused = RefusedUpgrades() if refused is None else refused
        self.client = Client(url, environ={})
        self.sockets = UpstreamSockets(self.refused)
        self.conversation = []

    def send(self, body, path="/v1/responses", method="POST"):
        data = body if not isinstance(body, dict) else orjson.dumps(body)
        request = UpstreamRequest(method, self.client.host, path, "", [*HEADERS], data)
        return self.sockets.send(self.client, Timeouts(), request, 5.0)

    def turn(self, item, **members):
        """Ask with the whole conversation; the last event of the answer."""
        self.conversation.append(item)
        response = self.send({"model": "m", "input": self.conversation, "stream": True, **members})
        data = b""
        while piece := response.read():
            data += piece
        response.close()
        last = json.loads(data.split(b"data: ")[-1])
        self.conversation += last["response"]["output"]
        return response.status, last["response"]["id"]

    def close(self):
        self.sockets.close()
        self.client.close()


@contextmanager
def serving(model=speak):
    with recorder() as upstream:
        heard = ResponsesUpstream(model)
        upstream.speak = heard
        caller = Caller(upstream.url)
        try:
            yield caller, heard, upstream
        finally:
            caller.close()


def test_a_conversation_is_one_socket_and_each_turn_is_what_is_new():
    with serving() as (caller, heard, upstream):
        assert [caller.turn({"n": number})[1] for number in (1, 2, 3)] == [
            *("resp_1", "resp_3", "resp_5"),
        ]
        assert heard.sockets == 1
        first, second, third = heard.heard
        assert first == {"type": "response.create", "model": "m", "input": [{"n": 1}]}
        assert (second["previous_response_id"], second["input"]) == ("resp_1", [{"n": 2}])
        assert (third["previous_response_id"], third["input"]) == ("resp_3", [{"n": 3}])
        [upgrade] = upstream.requests
        assert upgrade.line.startswith("GET /v1/responses ")
        assert upgrade.values("authorization") == ["Bearer x"]
        assert upgrade.values("content-type") == []


def test_what_was_edited_since_is_sent_whole():
    with serving() as (caller, heard, _):
        caller.turn({"n": 1})
        caller.conversation[0] = {"n": "edited"}
        assert caller.turn({"n": 2})[1] == "resp_3"
        assert "previous_response_id" not in heard.heard[1]


def test_a_response_that_the_upstream_has_forgotten_is_asked_for_again_with_all():
    with serving() as (caller, heard, _):
        caller.turn({"n": 1})
        heard.forget()
        assert caller.turn({"n": 2}) == (200, "resp_3")
        assert heard.sockets == 2
        assert len(heard.heard) == 3


def test_a_socket_that_the_upstream_has_closed_is_opened_again():
    with serving() as (caller, heard, _):
        caller.turn({"n": 1})
        heard.hang_up()
        assert caller.turn({"n": 2}) == (200, "resp_3")
        assert heard.sockets == 2


def test_a_response_that_is_cancelled_closes_its_socket():
    with serving() as (caller, heard, _):
        caller.send({"model": "m", "input": [1]}).close()
        caller.turn({"n": 1})
        assert heard.sockets == 2


@pytest.mark.parametrize("status", [404, 405, 426, 501])
def test_an_upstream_without_a_websocket_is_asked_by_http_and_remembered(status):
    with recorder() as upstream:

        def http_only(received, sock):
            (speak if received.body else answer(status=status))(received, sock)

        upstream.speak = http_only
        caller = Caller(upstream.url)
        other = UpstreamSockets(caller.refused)
        assert caller.turn({"n": 1}) == (200, "resp_1")
        caller.sockets = other
        assert caller.turn({"n": 2}) == (200, "resp_3")
        lines = [received.line.partition(" ")[0] for received in upstream.requests]
        assert lines == ["GET", "POST", "POST"]
        caller.close()


def test_an_upgrade_that_is_refused_for_another_reason_is_tried_again():
    with recorder() as upstream:

        def busy(received, sock):
            (speak if received.body else answer(status=503))(received, sock)

        upstream.speak = busy
        caller = Caller(upstream.url)
        caller.turn({"n": 1})
        caller.turn({"n": 2})
        lines = [received.line.partition(" ")[0] for received in upstream.requests]
        assert lines == ["GET", "POST"] * 2
        caller.close()


def test_a_wrong_accept_is_a_failure():
    with recorder() as upstream:
        upstream.speak = lambda received, sock: sock.sendall(
            b"HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: no\r\n\r\n"
        )
        caller = Caller(upstream.url)
        with pytest.raises(ProtocolFailure):
            caller.turn({"n": 1})
        caller.close()


def test_another_operation_goes_by_http():
    with recorder() as upstream:
        caller = Caller(upstream.url)
        assert caller.send({}, "/v1/chat/completions").status == 200
        assert caller.send(None, "/v1/responses", "GET").status == 200
        caller.close()


def test_a_refusal_is_forgotten_after_a_while():
    now = [0.0]
    refused, client = RefusedUpgrades(lambda: now[0]), Client("http://127.0.0.1:9", environ={})
    refused.add(client)
    assert client in refused
    now[0] = 301.0
    assert client not in refused


def test_an_upstream_that_ends_within_its_answer_is_a_failure():
    def cut(received, sock):
        sock.peer.sock.shutdown(2)

    with serving(cut) as (caller, _, _), pytest.raises(Reset):
        caller.turn({"n": 1})


def test_a_hedged_request_goes_by_http_while_the_socket_answers():
    with serving() as (caller, heard, upstream):
        first = caller.send({"model": "m", "input": [1]})
        assert caller.send({"model": "other", "input": [2]}).status == 200
        assert [message["model"] for message in heard.heard] == ["m"]
        assert [each.line.split()[0] for each in upstream.requests] == ["GET", "POST"]
        first.close()


def test_a_request_with_another_credential_has_a_socket_of_its_own(monkeypatch):
    with serving() as (caller, heard, upstream):
        caller.turn({"n": 1})
        monkeypatch.setattr(f"{__name__}.HEADERS", [("authorization", "Bearer y")])
        caller.turn({"n": 2})
        assert heard.sockets == 2
        assert [each.values("authorization") for each in upstream.requests] == [
            ["Bearer x"],
            ["Bearer y"],
        ]
