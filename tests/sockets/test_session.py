"""A session: messages in, messages out, and how it ends."""

import json
import time

import gevent
import orjson
import pytest
from gevent import GreenletExit
from gevent.event import Event

from engine.exchange.outcome import CallerLeft, Outcome
from engine.relay.websocket import close_frames
from engine.relay.websocket.open_sessions import SessionLimits, Sessions
from tests.support.client_socket import conversation
from tests.support.frames import BINARY, PING, PONG, TEXT


class Model:
    """Answers with the input; one named `hold` waits until `go` is set, and says that it does."""

    def __init__(self):
        self.go, self.waits, self.ended = Event(), Event(), []

    def turns(self, outlet):
        def run(create):
            try:
                if create.request["input"] == "hold":
                    self.waits.set()
                    self.go.wait()
                outlet.send(orjson.dumps({"input": create.request["input"]}))
            except GreenletExit as cause:
                self.ended.append(type(cause))
                raise

        return run


@pytest.fixture
def model():
    return Model()


def test_messages_are_answered_one_after_the_other(model):
    with conversation(model.turns) as talk:
        talk.create(input="a")
        talk.create(input="b")
        assert [talk.next(), talk.next()] == [{"input": "a"}, {"input": "b"}]
        assert (talk.traffic.sent.messages, talk.traffic.received.messages) == (2, 2)


def test_a_message_may_come_in_fragments(model):
    with conversation(model.turns) as talk:
        text = json.dumps({"type": "response.create", "input": "a"}).encode()
        talk.peer.send(TEXT, text[:10], fin=False)
        talk.peer.send(PING, b"x")
        talk.peer.send(0, text[10:])
        assert talk.peer.next().opcode == PONG
        assert talk.next() == {"input": "a"}


def test_a_ping_is_answered_while_a_request_is_under_way(model):
    with conversation(model.turns) as talk:
        talk.create(input="hold")
        talk.peer.send(PING, b"x")
        assert talk.peer.next().opcode == PONG


def test_what_is_no_request_is_an_error_and_the_session_goes_on(model):
    with conversation(model.turns) as talk:
        talk.peer.text("{")
        talk.peer.send(BINARY, b"{}")
        assert [talk.next()["error"]["code"] for _ in range(2)] == ["invalid_json", "invalid_type"]
        talk.peer.text('{"type":"response.steer","input":"x"}')
        assert talk.next()["type"] == "response.steer.failed"
        talk.create(input="a")
        assert talk.next() == {"input": "a"}


def test_a_close_of_the_client_cancels_what_is_under_way(model):
    with conversation(model.turns) as talk:
        talk.create(input="hold")
        assert model.waits.wait(10)
        talk.peer.close(1000)
        assert talk.closed() == (1000, "")
        assert model.ended == [CallerLeft]
        assert talk.traffic.outcome == Outcome.COMPLETE


def test_a_client_that_disconnects_cancels_what_is_under_way(model):
    with conversation(model.turns) as talk:
        talk.create(input="hold")
        assert model.waits.wait(10)
        talk.peer.sock.close()
        talk.running.get(timeout=10)
        assert model.ended == [CallerLeft]
        assert talk.traffic.outcome == Outcome.CALLER_LEFT


def test_a_message_that_is_too_large_closes_with_1009(model):
    with conversation(model.turns, SessionLimits(max_message=100)) as talk:
        talk.create(input="x" * 200)
        assert talk.closed()[0] == 1009


def test_pings_without_end_close_with_1008(model):
    with conversation(model.turns, SessionLimits(max_pings=3)) as talk:
        for _ in range(10):
            talk.peer.send(PONG, b"x")
        assert talk.closed()[0] == 1008


def test_a_worker_that_stops_soon_answers_first_and_then_closes(model):
    with conversation(model.turns) as talk:
        talk.create(input="hold")
        assert model.waits.wait(10)
        talk.session.leave()
        talk.create(input="late")
        assert talk.next()["error"]["code"] == "websocket_connection_limit_reached"
        model.go.set()
        assert talk.next() == {"input": "hold"}
        assert talk.closed()[0] == 1001


def test_a_session_without_a_request_closes_at_once_when_its_worker_stops(model):
    with conversation(model.turns) as talk:
        talk.session.leave()
        assert talk.closed()[0] == 1001


def test_an_old_session_ends_with_an_error_behind_the_request_under_way(model):
    with conversation(model.turns, SessionLimits(session=60, ping=1000)) as talk:
        talk.create(input="hold")
        assert model.waits.wait(10)
        talk.session.check_time(time.monotonic() + 61)
        model.go.set()
        assert talk.next() == {"input": "hold"}
        error = talk.next()
        assert (error["status"], error["error"]["code"]) == (
            *(400,),
            "websocket_connection_limit_reached",
        )
        assert talk.closed()[0] == 1001


def test_an_idle_session_ends_and_one_at_work_does_not(model):
    with conversation(model.turns, SessionLimits(idle=60, ping=1000)) as talk:
        talk.create(input="hold")
        assert model.waits.wait(10)
        talk.session.check_time(time.monotonic() + 61)
        model.go.set()
        assert talk.next() == {"input": "hold"}
        talk.session.check_time(time.monotonic() + 61)
        assert talk.closed()[0] == 1001


def test_a_client_that_answers_no_ping_has_left(model):
    with conversation(model.turns, SessionLimits(ping=5)) as talk:
        now = time.monotonic() + 6
        talk.session.check_time(now)
        assert talk.peer.next().opcode == PING
        talk.session.check_time(now + 6)
        talk.running.get(timeout=10)
        assert talk.traffic.outcome == Outcome.CALLER_LEFT


def test_a_worker_that_stops_refuses_what_waits_and_closes_with_1012(model):
    with conversation(model.turns) as talk:
        talk.create(input="hold")
        talk.create(input="waits", stream_id="")  # the lane of no name is the default one
        talk.create(input="hold")
        gevent.sleep(0.05)
        assert talk.next()["error"]["code"] == "invalid_stream_id"
        talk.session.end(close_frames.restart())
        assert talk.next()["error"]["code"] == "websocket_connection_limit_reached"
        assert talk.closed()[0] == 1012
        assert talk.traffic.code == 1012


def test_a_token_that_was_revoked_is_an_error_and_1008(model):
    with conversation(model.turns) as talk:
        talk.session.end(close_frames.token_revoked())
        assert talk.next()["status"] == 401
        assert talk.closed()[0] == 1008


def test_a_worker_that_stops_soon_ends_the_sessions_that_it_knows(model):
    sessions = Sessions()
    with conversation(model.turns, run=sessions.run) as talk:
        talk.create(input="a")
        assert talk.next() == {"input": "a"}
        assert len(sessions) == 1
        sessions.leave()
        assert talk.closed()[0] == 1001
        assert len(sessions) == 0


def test_nothing_is_read_of_a_client_that_reads_no_errors(model):
    with conversation(model.turns) as talk:
        wrong = json.dumps({"type": "response.steer", "input": "x" * 100_000})
        with gevent.Timeout(0.5, False):
            while talk.traffic.sent.messages < 100:
                talk.peer.text(wrong)
                gevent.sleep(0)
        assert talk.traffic.sent.messages < 20
        assert talk.next()["type"] == "response.steer.failed"


def test_input_to_steer_that_is_nested_too_deeply_is_an_error(model):
    with conversation(model.turns) as talk:
        talk.peer.text('{"type":"response.steer","input":' + "[" * 300 + "]" * 300 + "}")
        assert talk.next()["error"]["code"] == "invalid_json"
