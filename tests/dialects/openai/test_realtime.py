"""Sessions of the OpenAI dialect: errors and usage."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from openai.types.realtime.client_secret_create_response import ClientSecretCreateResponse

from engine import dialects
from engine.dialects.interface.client_secrets import IssuedSecret
from engine.dialects.openai.realtime import CLIENT_SECRETS, socket_total, socket_usage
from engine.values.errors import GatewayError
from tests.support.each import each

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
            "param": None,
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


VOICE = {"audio": {"output": {"voice": "marin"}}}
HEARD = {"audio": {"input": {"transcription": {"model": "gpt-4o-transcribe"}}}}


@each(
    ("body", "request_"),
    [
        ({}, ("", 600, {"type": "realtime"})),
        ({"session": None, "expires_after": None}, ("", 600, {"type": "realtime"})),
        ({"session": {"model": "m"}}, ("m", 600, {"type": "realtime", "model": "m"})),
        (
            {"expires_after": {"anchor": "created_at", "seconds": 10}, "session": VOICE},
            ("", 10, {"type": "realtime", **VOICE}),
        ),
        ({"expires_after": {"seconds": 7200}}, ("", 7200, {"type": "realtime"})),
        (
            {"session": {"type": "transcription", **HEARD}},
            ("gpt-4o-transcribe", 600, {"type": "transcription", **HEARD}),
        ),
        ({"session": {"type": "transcription"}}, ("", 600, {"type": "transcription"})),
    ],
)
def test_a_request_is_read(body: Any, request_: tuple[str, int, Any]) -> None:
    assert CLIENT_SECRETS.read(body, 0.0) == request_


@each(
    ("body", "param"),
    [
        ({"expires_after": {"seconds": 9}}, "expires_after.seconds"),
        ({"expires_after": {"seconds": 7201}}, "expires_after.seconds"),
        ({"expires_after": {"seconds": True}}, "expires_after.seconds"),
        ({"expires_after": {"seconds": "60"}}, "expires_after.seconds"),
        ({"expires_after": {"seconds": 60.5}}, "expires_after.seconds"),
        ({"expires_after": {"anchor": "later"}}, "expires_after.anchor"),
        ({"expires_after": 60}, "expires_after"),
        ({"session": "gpt-realtime"}, "session"),
        ({"session": {"type": "other"}}, "session.type"),
        ({"session": {"type": ["x"]}}, "session.type"),
        ({"session": {"model": 5}}, "session.model"),
        ({"session": {"type": "transcription", "audio": []}}, "session.audio"),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(body: Any, param: str) -> None:
    with pytest.raises(GatewayError) as excinfo:
        CLIENT_SECRETS.read(body, 0.0)
    assert (excinfo.value.status, excinfo.value.param) == (400, param)


@each("session", [{"type": "realtime", **VOICE}, {"type": "transcription", **HEARD}])
def test_the_sdk_takes_the_response(session: Any) -> None:
    issued = IssuedSecret("ek_1", 1_700_000_000, "gpt-realtime", session, "req_01")
    answer = CLIENT_SECRETS.write(issued)
    typed = ClientSecretCreateResponse.model_validate(answer, strict=True)
    assert (typed.value, typed.expires_at) == ("ek_1", 1_700_000_000)
    assert typed.session.type == session["type"]


def test_the_upstream_gets_the_settings_and_no_name_of_ours() -> None:
    session = {"type": "realtime", "model": "ours", "id": "sess_1", **VOICE}
    message = orjson.loads(CLIENT_SECRETS.opening(session))
    assert message == {"type": "session.update", "session": {"type": "realtime", **VOICE}}
    assert CLIENT_SECRETS.opening({"type": "realtime", "model": "ours"}) == b""


def test_a_session_is_of_its_type_and_joins_no_call() -> None:
    assert CLIENT_SECRETS.parameters({"type": "realtime"}) == {"intent": None, "call_id": None}
    assert CLIENT_SECRETS.parameters({"type": "transcription"})["intent"] == "transcription"
