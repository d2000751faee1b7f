"""Client secrets of the Realtime API: `POST /v1/realtime/client_secrets`.

As the vendor's document and SDKs have them: `expires_after` is 10 to 7200 seconds from now, 600
without it; a session is of type `realtime`, whose `model` is a member of its own, or
`transcription`, whose model is that of the transcription.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from engine.dialects.interface.client_secrets import (
    ClientSecretFormat,
    IssuedSecret,
    SecretRequest,
)
from engine.values.errors import invalid_value
from engine.values.trees import Json

_SECONDS = range(10, 7201)
_DEFAULT_SECONDS = 600
_TYPES = ("realtime", "transcription")
_OF_THE_ANSWER = frozenset({"id", "object", "expires_at", "client_secret", "model"})
"""Members of a session that clients may send back, and no upstream takes in an update."""


def _read(body: Json, now: float) -> SecretRequest:
    """The request in a body."""
    session = _object(body, "session", "session")
    kind = session.get("type") or "realtime"
    if kind not in _TYPES:
        raise invalid_value("session.type", f"one of {', '.join(_TYPES)}")
    return SecretRequest(_model(session, kind), _seconds(body), session | {"type": kind})


def _seconds(body: Json) -> int:
    after = _object(body, "expires_after", "expires_after")
    if after.get("anchor") not in (None, "created_at"):
        raise invalid_value("expires_after.anchor", "created_at")
    seconds = after.get("seconds")
    if seconds is None:
        return _DEFAULT_SECONDS
    if isinstance(seconds, bool) or not isinstance(seconds, int) or seconds not in _SECONDS:
        words = f"an integer from {_SECONDS[0]} to {_SECONDS[-1]}"
        raise invalid_value("expires_after.seconds", words)
    return seconds


def _model(session: Json, kind: str) -> str:
    if kind == "transcription":
        audio = _object(session, "audio", "session.audio")
        session = _object(_object(audio, "input", "session.audio.input"), "transcription", "")
    model = session.get("model")
    if model is not None and not isinstance(model, str):
        raise invalid_value("session.model", "a text")
    return model or ""


def _object(holder: Json, name: str, at: str) -> Json:
    value: Any = holder.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise invalid_value(at or name, "an object")
    return value


def _write(secret: IssuedSecret) -> Json:
    """The response; `type` tells SDKs the class of the session."""
    kind = secret.session["type"]
    model = {"model": secret.model} if kind == "realtime" else {}
    session = {
        **secret.session,
        **model,
        "object": f"realtime.{'transcription_session' if kind == 'transcription' else 'session'}",
        "id": f"sess_{secret.request_id.removeprefix('req_')}",
    }
    return {"value": secret.value, "expires_at": secret.expires, "session": session}


def _opening(session: Json) -> bytes:
    """The update of a session by its settings; the vendor has made them before its first event."""
    settings = {name: value for name, value in session.items() if name not in _OF_THE_ANSWER}
    if len(settings) == 1:  # the type alone
        return b""
    return orjson.dumps({"type": "session.update", "session": settings})


def _parameters(session: Json) -> Mapping[str, str | None]:
    """A secret opens a session of its own type, and joins no call of another caller."""
    intent = "transcription" if session["type"] == "transcription" else None
    return {"intent": intent, "call_id": None}


CLIENT_SECRETS = ClientSecretFormat(
    _read, _write, _opening, _parameters, owns=lambda session: session.get("type") in _TYPES
)
