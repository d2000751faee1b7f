"""The answers of other servers, as their bytes arrive."""

import json

import gevent
import pytest

from engine.mcp.remote import replies
from engine.mcp.remote.replies import RemoteError, ReplyReader
from engine.process.loop_turn import FEW_BYTES
from engine.process.preemption import Preemption
from tests.support.each import each
from tests.support.loop_turns import loop_turns
from tests.support.mcp_upstreams import event
from tests.support.preempting import interrupting, until_set

ANSWER = {"jsonrpc": "2.0", "id": 7, "result": {"content": []}}
EVENTS = "text/event-stream"


def read(data, media_type=EVENTS, most=10_000, size=1):
    reader = ReplyReader(7, media_type, most)
    for start in range(0, len(data), size):
        if reader.feed(data[start : start + size]):
            break
    return reader.result()


@each("size", [1, 2, 3, 1000])
def test_an_answer_is_found_among_events_however_they_arrive(size):
    stray = {"jsonrpc": "2.0", "method": "notifications/message", "params": {}}
    for end in (b"\n", b"\r\n", b"\r"):
        data = (event(stray) + b": ping\n\n" + event(ANSWER)).replace(b"\n", end)
        assert read(data, size=size) == {"content": []}


def test_an_answer_without_an_empty_line_at_its_end_is_read():
    assert read(event(ANSWER).rstrip()) == {"content": []}


def test_nothing_behind_the_answer_is_read():
    reader = ReplyReader(7, EVENTS, 1_000)
    assert reader.feed(event(ANSWER)) is True


@each(
    "document, words",
    [
        ({**ANSWER, "id": 8}, "no result for this request"),
        ({**ANSWER, "id": "7"}, "no result for this request"),
        ({"jsonrpc": "2.0", "id": 7, "result": []}, "not a JSON object"),
        (
            {"jsonrpc": "2.0", "id": 7, "error": {"code": -32602, "message": "x" * 9_000}},
            "error -32602: x",
        ),
        ({"jsonrpc": "2.0", "id": 7, "error": "no"}, "an error"),
        ({"jsonrpc": "2.0", "id": 1, "method": "roots/list"}, "'roots/list'"),
    ],
)
def test_what_is_no_answer_is_an_error(document, words):
    for data, media_type in (
        (json.dumps(document).encode(), "application/json"),
        (event(document), EVENTS),
    ):
        with pytest.raises(RemoteError, match=words) as raised:
            read(data, media_type, size=10_000)
        assert len(str(raised.value)) < 600


@each("data, text", [({"a": "b"}, '{"a":"b"}'), ("y" * 9_000, '"' + "y" * 3_999), (None, "")])
def test_the_data_of_an_error_is_kept_apart_and_bounded(data, text):
    document = {"jsonrpc": "2.0", "id": 7, "error": {"code": -1, "message": "x", "data": data}}
    with pytest.raises(RemoteError, match=r"error -1: x$") as raised:
        read(json.dumps(document).encode(), "application/json", size=10_000)
    assert raised.value.data == text


def test_more_bytes_than_the_bound_are_not_read():
    with pytest.raises(RemoteError, match="more than 100 bytes"):
        read(event(ANSWER) * 9, most=100, size=101)


def test_a_flood_of_events_leaves_turns_to_others():
    reader = ReplyReader(7, EVENTS, 1_000_000)
    assert loop_turns(lambda: reader.feed(event({"method": "a"}) * 2_000)) >= 2


def test_others_go_on_while_the_levels_of_many_tools_are_counted(monkeypatch):
    preemption, others, turns = Preemption(), gevent.event.Event(), []
    monkeypatch.setattr(replies, "PREEMPTION", preemption)

    def count(data, message):
        gevent.spawn(others.set)
        turns.append(until_set(others))

    monkeypatch.setattr(replies, "check_depth", count)
    data = json.dumps({**ANSWER, "result": {"content": ["x" * FEW_BYTES]}}).encode()
    with interrupting(preemption):
        gevent.spawn(read, data, "application/json", 1_000_000, len(data)).get()
    assert turns == [True]
