"""Server-sent events become messages."""

import time

import orjson
import pytest

from engine import dialects
from engine.sockets.events import EventMessages
from tests.support.each import each

OPENAI = dialects.get("openai")
DELTA = b'event: response.output_text.delta\ndata: {"type":"response.output_text.delta"}\n\n'
ITEM = (
    b"event: response.output_item.done\n"
    b'data: {"type":"response.output_item.done","item":{"id":"i"}}\n\n'
)


def last(output, kind="response.completed"):
    document = {"type": kind, "response": {"id": "resp_1", "output": output}}
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), orjson.dumps(document))


class Reading:
    def __init__(self, stream_id=""):
        self.ends = []
        self.events = EventMessages(OPENAI, stream_id, self.ends.append)

    def feed(self, *pieces):
        return [message for piece in pieces for message in self.events.feed(piece)]


def test_a_message_is_the_json_of_an_event():
    assert Reading().feed(DELTA + DELTA) == [b'{"type":"response.output_text.delta"}'] * 2


@pytest.mark.parametrize("size", [1, 7, 50])
def test_events_may_arrive_in_any_pieces(size):
    data = DELTA + last([1]) + DELTA
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert Reading().feed(*pieces) == Reading().feed(data)


def test_each_message_has_the_lane():
    assert Reading("a").feed(DELTA) == [b'{"type":"response.output_text.delta","stream_id":"a"}']


def test_a_message_has_the_type_that_is_the_name_of_its_event():
    event = b'event: response.output_item.done\ndata: {"item":{"type":"message"}}\n\n'
    assert [orjson.loads(message) for message in Reading().feed(event)] == [
        {"item": {"type": "message"}, "type": "response.output_item.done"}
    ]


@each("event", [b": keep-alive\n\n", b"data: [DONE]\n\n", b"event: x\ndata: text\n\n"])
def test_comments_and_what_is_no_json_are_no_messages(event):
    assert Reading().feed(event) == []


@each("kind", ["response.completed", "response.incomplete", "response.failed"])
def test_the_last_event_ends_the_turn(kind):
    reading = Reading()
    assert len(reading.feed(last([{"id": "i"}], kind))) == 1
    assert reading.events.has_ended
    assert [end["response"]["output"] for end in reading.ends] == [[{"id": "i"}]]


def test_an_event_without_a_name_is_read_by_its_type():
    reading = Reading()
    [message] = reading.feed(last([]).partition(b"\n")[2])
    assert orjson.loads(message)["type"] == "response.completed"
    assert reading.events.has_ended


def test_an_empty_output_is_that_of_the_items_before():
    reading = Reading()
    reading.feed(ITEM, last([]))
    assert reading.ends[0]["response"]["output"] == [{"id": "i"}]


@each(
    ("error", "status", "code"),
    [
        ({"type": "error", "code": "slow_down", "message": "m"}, 503, "slow_down"),
        ({"type": "error", "code": "server_error", "message": "m"}, 500, "server_error"),
        ({"error": {"type": "overloaded_error", "message": "m"}}, 503, None),
        ({"type": "error", "message": "m"}, 502, None),
        ({"type": "error", "status": 400, "error": {"message": "m", "code": "c"}}, 400, "c"),
        (
            {
                "type": "response.failed",
                "response": {"status": "failed", "error": {"message": "m", "code": "slow_down"}},
                "error": {"message": "m", "code": "slow_down"},
            },
            503,
            "slow_down",
        ),
    ],
)
def test_an_error_is_nested_with_its_status(error, status, code):
    reading = Reading("lane")
    [message] = reading.feed(b"data: " + orjson.dumps(error) + b"\n\n")
    document = orjson.loads(message)
    assert (document["type"], document["status"]) == ("error", status)
    assert (document["error"]["message"], document["error"]["code"]) == ("m", code)
    assert document["stream_id"] == "lane"
    assert reading.events.has_ended


def test_an_item_that_is_not_valid_is_left_out_of_the_output():
    reading = Reading()
    broken = b"event: response.output_item.done\ndata: {broken}\n\n"
    reading.feed(broken + ITEM + last([]))
    assert reading.ends[0]["response"]["output"] == [{"id": "i"}]


def test_a_large_event_in_many_pieces_is_searched_once():
    reading = Reading()
    data = DELTA.replace(b'"}\n', b'","x":"%b"}\n' % (b"x" * 2_000_000))
    begin = time.process_time()
    messages = reading.feed(*[data[at : at + 40] for at in range(0, len(data), 40)])
    assert len(messages) == 1
    assert time.process_time() - begin < 1.0  # 10 s, if each piece were joined and searched anew
