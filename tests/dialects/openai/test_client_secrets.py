"""Client secrets of the Realtime API: what requests may ask for, and what sessions get."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from openai.types.realtime.client_secret_create_response import ClientSecretCreateResponse

from engine.dialects.interface.client_secrets import IssuedSecret
from engine.dialects.openai.client_secrets import CLIENT_SECRETS
from engine.values.errors import GatewayError
from tests.support.each import each

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
