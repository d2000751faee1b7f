"""The mock at the end of a WebSocket: answers, interruptions, faults."""

import gevent
import orjson
import pytest
from gevent.queue import Queue

from engine import dialects
from engine.mock import faults
from engine.mock.conversations import open_conversation
from engine.mock.conversations.echo import Echo
from engine.mock.conversations.realtime import Realtime
from engine.mock.websocket import converse
from engine.relay.websocket.endpoint import Closed, Message
from engine.values.errors import AbortConnection

CALLER_LEFT = Closed(1005, "")


class Line:
    """Messages without a socket: what is heard is put in, what is sent is kept.

    `when` says what is heard as soon as the nth event of a kind was sent.
    """

    def __init__(self, *messages, when=()):
        self.inbox = Queue()
        for message in messages:
            self.inbox.put(message)
        self.when = dict(when)
        self.outgoing = []
        self.closed = None

    def receive(self):
        message = self.inbox.get()
        if isinstance(message, Closed):
            raise message
        return message

    def send_text(self, data):
        assert self.closed is None
        self.outgoing.append(Message(True, data))
        if self.when:
            kinds = self.kinds()
            for message in self.when.pop((kinds[-1], kinds.count(kinds[-1])), ()):
                self.inbox.put(message)

    def send_binary(self, data):
        self.outgoing.append(Message(False, data))

    def close(self, code, reason=""):
        self.closed = (code, reason)

    def kinds(self):
        return [orjson.loads(message.data)["type"] for message in self.outgoing]


DELTA = "response.output_text.delta"
RESPONSE_DONE = ("response.done", 1)


def event(**members):
    return Message(True, orjson.dumps(members))


TURN = event(
    type="response.create",
    response={
        "output_modalities": ["text"],
        "input": [
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "one two three four"}],
            }
        ],
    },
)


def run(line, partner, model="", delay=0.0):
    with gevent.Timeout(10):
        converse(line, partner, faults.fault_of(model), delay)
    return line


def realtime():
    return Realtime("m", ())


def test_an_echo_repeats_every_message():
    messages = [Message(True, b"a"), Message(False, b"\x00\xff"), Message(True, b"")]
    line = run(Line(*messages, CALLER_LEFT), Echo(()))
    assert line.outgoing == messages
    assert line.closed == (1000, "")


def test_a_conversation_is_opened_and_answered():
    line = run(Line(TURN, when={RESPONSE_DONE: [CALLER_LEFT]}), realtime())
    assert line.kinds()[:2] == ["session.created", "response.created"]
    assert line.kinds().count(DELTA) == 4


def test_it_listens_while_it_speaks():
    line = Line(
        TURN, when={(DELTA, 2): [event(type="response.cancel")], RESPONSE_DONE: [CALLER_LEFT]}
    )
    run(line, realtime(), delay=0.5)
    assert line.kinds().count(DELTA) == 2
    last = orjson.loads(line.outgoing[-1].data)
    assert (last["type"], last["response"]["status"]) == ("response.done", "cancelled")


def test_it_stops_sending_when_the_peer_has_disconnected():
    line = run(Line(TURN, when={(DELTA, 1): [CALLER_LEFT]}), realtime(), delay=0.5)
    assert line.kinds().count(DELTA) == 1
    assert line.closed == (1000, "")


def test_it_stops_when_the_other_side_leaves_while_it_sends():
    line = Line(TURN)

    def fail(data):
        raise Closed(1006, "")

    line.send_text = fail
    assert run(line, realtime()).closed == (1000, "")


@pytest.mark.parametrize(("model", "count"), [("", 0), ("-after-3", 3), ("-after-6", 6)])
def test_it_closes_with_the_requested_code(model, count):
    line = run(Line(TURN), realtime(), f"fault-code-1008{model}")
    assert len(line.outgoing) == count
    assert line.closed == (1008, "The mock was asked for 1008.")


@pytest.mark.parametrize("count", [1, 6])
def test_it_cuts_the_connection(count):
    line = Line(TURN)
    with pytest.raises(AbortConnection):
        run(line, realtime(), f"fault-close-after-{count}")
    assert len(line.outgoing) == count
    assert line.closed is None


def test_it_stalls_and_stays_connected():
    messages = [Message(True, b"a"), Message(True, b"b"), Message(True, b"c")]
    line = run(Line(*messages, CALLER_LEFT), Echo(()), "fault-stall-after-2")
    assert line.outgoing == messages[:2]
    assert line.closed == (1000, "")


def test_an_error_event_in_mid_reply_ends_no_session():
    cleared = "input_audio_buffer.cleared"
    messages = [event(type="input_audio_buffer.clear")]
    line = Line(TURN, when={RESPONSE_DONE: messages, (cleared, 1): [CALLER_LEFT]})
    run(line, realtime(), "fault-error-after-6")
    assert line.kinds()[5:7] == [DELTA, "error"]
    failed = orjson.loads(line.outgoing[-2].data)
    assert (failed["type"], failed["response"]["status"]) == ("response.done", "failed")
    assert line.kinds()[-1] == cleared


@pytest.mark.parametrize(
    ("name", "offers", "kind", "protocol"),
    [
        ("realtime", (), Realtime, ""),
        ("realtime", ("realtime",), Realtime, "realtime"),
        ("realtime", ("x", "realtime"), Realtime, "realtime"),
        ("realtime", ("x",), Realtime, ""),
        ("", (), Echo, ""),
        ("", ("b", "a"), Echo, "b"),
    ],
)
def test_a_conversation_accepts_a_subprotocol(name, offers, kind, protocol):
    conversation = open_conversation(name, "m", offers)
    assert (type(conversation), conversation.protocol) == (kind, protocol)


def test_every_dialect_names_a_conversation_that_exists():
    for dialect in map(dialects.get, dialects.names()):
        assert open_conversation(dialect.mock_conversation, "m", ())
