"""Usage in the events of OpenAI's Live API."""

import json

import pytest

from engine.dialects.openai.live import socket_total
from engine.dialects.openai.realtime import socket_usage


@pytest.mark.parametrize("kind", ["session.usage.updated", "session.closed"])
def test_seconds_are_the_total_so_far(kind):
    total = socket_total(json.dumps({"type": kind, "usage": {"seconds": 90}}).encode())
    assert total is not None
    assert total.seconds == 90


@pytest.mark.parametrize(
    "event",
    [
        b'{"type": "session.started", "usage": {"seconds": 90}}',
        b'{"type": "session.closed", "usage": {"seconds": -1}}',
        b'{"type": "session.closed"}',
        b'{"text": "\\"session.closed\\""}',
        b'"session.closed"',
        b'{"session.closed"',
    ],
)
def test_other_events_say_nothing(event):
    assert socket_total(event) is None


def test_the_tokens_of_a_task_are_added():
    usage = {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}
    inner = {"type": "response.completed", "response": {"usage": usage}}
    event = {"type": "response.event", "event": inner}
    counted = socket_usage(json.dumps(event).encode())
    assert counted is not None
    assert (counted.input, counted.output) == (3, 4)
    assert socket_usage(json.dumps(inner).encode()) is None
