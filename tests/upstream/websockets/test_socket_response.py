"""The messages of an upstream, read as a response over HTTP."""

import orjson
import pytest

from engine.upstream.client.deadlines import Deadlines, Timeouts
from engine.upstream.client.failures import (
    FirstByteTimeout,
    IdleTimeout,
    ProtocolFailure,
    Reset,
    Silence,
    Truncated,
)
from engine.upstream.websockets.socket_response import SocketResponse
from tests.support.each import each


class Messages:
    """A stream of messages; without more of them it waits in vain, or has ended."""

    def __init__(self, *messages, ends=False):
        self.messages, self.ends, self.closed = [*messages], ends, False

    def take(self, seconds):
        if self.messages:
            return self.messages.pop(0)
        if self.ends:
            raise Reset
        return None

    @property
    def has_message(self):
        return bool(self.messages)

    def close(self):
        self.closed = True


def message(kind, **members):
    return orjson.dumps({"type": kind, **members})


CREATED = message("response.created")
COMPLETED = message("response.completed", response={"id": "r", "output": [1]})


class Reading:
    def __init__(self, *messages, ends=False):
        self.stream, self.ended = Messages(*messages, ends=ends), []
        deadlines = Deadlines(Timeouts(), lambda: 0.0)
        self.response = SocketResponse(self.stream, deadlines, self.ended.append)

    def body(self):
        response = self.response.begin()
        data = b""
        while piece := response.read():
            data += piece
        return data


def test_messages_are_events_with_their_type_as_name():
    reading = Reading(CREATED, COMPLETED)
    assert reading.body() == (
        b"event: response.created\ndata: %b\n\nevent: response.completed\ndata: %b\n\n"
    ) % (CREATED, COMPLETED)
    assert reading.response.header("content-type") == "text/event-stream"
    assert (reading.response.status, reading.response.is_complete) == (200, True)
    assert reading.ended == [{"id": "r", "output": [1]}]
    reading.response.close()
    assert not reading.stream.closed


def test_an_event_is_one_line_whatever_the_message_is():
    assert Reading(b'{\n"type":"response.created"}', COMPLETED).body().count(b"\n") == 6


def test_an_empty_output_is_that_of_the_items_before():
    item = message("response.output_item.done", item={"n": 1})
    none = message("response.output_item.done")
    reading = Reading(CREATED, item, none, message("response.completed", response={"id": "r"}))
    reading.body()
    assert reading.ended == [{"id": "r", "output": [{"n": 1}]}]


@each(
    ("error", "status"),
    [
        ({"status": 429, "error": {"code": "c", "message": "m"}}, 429),
        ({"code": "c", "message": "m"}, 502),
        ({"status": 200, "error": {"code": "c"}}, 502),
    ],
)
def test_an_error_instead_of_a_response_is_one_with_a_status(error, status):
    reading = Reading(message("error", headers={"retry-after": 3, "set-cookie": "x"}, **error))
    document = orjson.loads(reading.body())
    assert document["error"]["code"] == "c"
    response = reading.response
    assert (response.status, response.error_code, response.is_complete) == (status, "c", True)
    assert response.headers[1:] == [("retry-after", "3")]
    assert reading.ended == [None]


def test_an_error_behind_the_first_event_is_an_event():
    reading = Reading(CREATED, message("error", status=500, error={"message": "m"}))
    assert b"event: error\n" in reading.body()
    assert reading.ended == [None]


def test_a_stream_that_ends_is_cut():
    response = Reading(CREATED, ends=True).response.begin()
    response.read()
    with pytest.raises(Truncated):
        response.read()


def test_a_stream_that_ends_before_its_first_event_is_reset():
    reading = Reading(ends=True)
    with pytest.raises(Reset) as reset:
        reading.response.begin()
    assert reset.value.request_sent
    assert reading.stream.closed


def test_silence_is_a_timeout():
    with pytest.raises(FirstByteTimeout):
        Reading().response.begin()
    response = Reading(CREATED).response.begin()
    response.read()
    with pytest.raises(Silence):
        response.read(None, 1.0)
    with pytest.raises(IdleTimeout):
        response.read()


def test_a_message_without_a_type_is_a_failure():
    response = Reading(CREATED, b"[]").response.begin()
    response.read()
    for _ in range(2):
        with pytest.raises(ProtocolFailure):
            response.read()


def test_a_response_that_is_closed_early_closes_its_socket():
    reading = Reading(CREATED)
    reading.response.begin().close()
    assert reading.stream.closed


def test_what_was_read_can_be_read_again():
    response = Reading(CREATED, COMPLETED).response.begin()
    first = response.read()
    response.unread(first)
    assert response.read() == first
    with pytest.raises(ValueError, match="101"):
        response.detach()
