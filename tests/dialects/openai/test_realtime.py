"""Sessions of the OpenAI dialect: errors and usage."""

from __future__ import annotations

import json

import orjson
import pytest

from engine import dialects
from engine.dialects.openai.realtime import socket_total, socket_usage
from engine.values.errors import GatewayError

OPENAI = dialects.get("openai")
USAGE = {"total_tokens": 5, "input_token_details": {"text_tokens": 3}}


def test_the_error_event_of_a_session():
    event = orjson.loads(OPENAI.socket_error(GatewayError(502, "upstream_error", "Gone."), "req_1"))
    assert event == {
        "type": "error",
        "event_id": "event_req_1",
        "error": {
            "type": "server_error",
            "code": "upstream_error",
            "message": "Gone.",
            "param": "",
            "event_id": None,
        },
    }


@pytest.mark.parametrize("name", [n for n in dialects.names() if n != "openai"])
def test_other_dialects_have_no_sessions(name):
    dialect = dialects.get(name)
    assert (dialect.socket_error, dialect.socket_total) == (None, None)
    assert (dialect.socket_usage is None) == (name != "gemini")
    assert dialect.subprotocols == ("*",)


def response_end(**response):
    return {"type": "response.done", "response": response}


@pytest.mark.parametrize(
    ("message", "usage"),
    [
        (response_end(usage=USAGE), USAGE),
        (response_end(usage=None), None),
        (response_end(), None),
        ({"type": "response.done"}, None),
        ({"type": "response.done", "response": "x"}, None),
        ({"type": "response.created", "response": {"usage": USAGE}}, None),
        ({"type": "note", "text": '"response.done"', "response": {"usage": USAGE}}, None),
        ([{"type": "response.done"}], None),
    ],
)
def test_usage_is_read_from_the_end_of_a_response(message, usage):
    text = orjson.dumps(message)
    expected = OPENAI.meter.usage_of({"usage": usage}) if usage else None
    assert OPENAI.socket_usage(text) == OPENAI.socket_usage(bytearray(text)) == expected


@pytest.mark.parametrize(
    "message",
    [b"", b'{"type": "response.done"', b'"response.done" no json', b"\xff"],
)
def test_an_invalid_event_has_no_usage(message):
    assert OPENAI.socket_usage(message) is None


def test_a_very_large_message_is_not_parsed():
    huge = orjson.dumps(response_end(usage=USAGE, output="x" * 1_000_000))
    assert OPENAI.socket_usage(huge) is None


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
