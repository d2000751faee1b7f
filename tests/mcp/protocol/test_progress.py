"""Progress: who gets it, how often, and how a call ends."""

import json

import pytest

from engine.mcp.protocol.json_rpc import Message
from engine.mcp.protocol.progress import (
    INTERVAL,
    finish,
    progress_events,
    progress_token,
    receive,
)
from engine.mcp.protocol.revisions import MODERN, Head
from engine.mcp.protocol.server import Reply, Request
from engine.values.errors import AbortConnection, AbortReason
from tests.support.each import each

BOTH = "application/json, text/event-stream"
REPLY = Reply(200, b'{"result":1}')


def request(**meta):
    message = Message("tools/call", {}, 1, meta or {})
    return Request(message, MODERN, "agent/1", Head())


@each(
    ("meta", "accept", "token"),
    [
        ({"progressToken": "a"}, BOTH, "a"),
        ({"progressToken": 0}, BOTH, 0),
        ({"progressToken": "a"}, "application/json", None),
        ({"progressToken": True}, BOTH, None),
        ({"progressToken": ["a"]}, BOTH, None),
        ({}, BOTH, None),
    ],
)
def test_the_token_of_a_client_that_reads_events(meta, accept, token):
    assert progress_token(request(**meta), accept) == token


def steps(*progress, ended=None):
    try:
        yield from progress
    finally:
        if ended is not None:
            ended.append(True)
    return REPLY


def documents(events):
    return [json.loads(event.removeprefix(b"event: message\ndata: ")) for event in events]


def test_a_call_without_progress_has_a_reply():
    assert finish(steps(1, 2)) is REPLY


def test_progress_grows_and_is_told_at_intervals():
    times = iter([0.0, INTERVAL / 2, INTERVAL, INTERVAL * 3, INTERVAL * 5])
    *told, last = documents(progress_events(steps(2, 3, 3, 7), 1, "t", lambda: next(times)))
    assert [each["params"]["progress"] for each in told] == [1, 3, 7]
    assert told[0] == {
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": {"progressToken": "t", "progress": 1},
    }
    assert last == {"result": 1}


def test_a_client_that_leaves_ends_the_call():
    ended = []
    call = steps(1, 2, ended=ended)
    events = progress_events(call, next(call), "t", lambda: 0.0)
    next(events)
    events.close()
    assert ended == [True]


class Pieces:
    """A body that may break off, and notes that it was closed."""

    def __init__(self, *pieces, reason=None):
        self.pieces, self.reason, self.closed = pieces, reason, False

    def __iter__(self):
        yield from self.pieces
        if self.reason is not None:
            raise AbortConnection(self.reason, "gone")

    def close(self):
        self.closed = True


def received(pieces, most=100, *, is_stream=True):
    """The numbers of events, and what was received."""
    progress = []
    steps_of = receive(pieces, most, is_stream=is_stream)
    while True:
        try:
            progress.append(next(steps_of))
        except StopIteration as end:
            return progress, end.value


@each(
    ("pieces", "expected"),
    [
        (Pieces(b"data: a\n\nda", b"ta: b\n\n"), ([1, 2], (b"data: a\n\ndata: b\n\n", False))),
        (Pieces(b"x" * 60, b"x" * 60, b"y"), ([0], (b"x" * 120, False))),
        (Pieces(b"a", reason=AbortReason.RESPONSE_BROKE_OFF), ([0], (b"a", True))),
    ],
)
def test_a_body_is_received_up_to_its_bound_and_closed(pieces, expected):
    assert received(pieces) == expected
    assert pieces.closed


def test_what_is_no_stream_has_no_progress():
    assert received(Pieces(b"a", b"b"), is_stream=False) == ([], (b"ab", False))


def test_a_caller_that_has_left_gets_nothing():
    pieces = Pieces(b"a", reason=AbortReason.CALLER_LEFT)
    with pytest.raises(AbortConnection):
        received(pieces)
    assert pieces.closed
