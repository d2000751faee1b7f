"""Sessions of the OpenAI dialect over a WebSocket: the Realtime API with its client secrets, and
the Live API (`/v1/live/sessions`), whose events report seconds of audio as a sum of the session,
and the tokens of the models that do its tasks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

from engine.dialects.interface.client_secrets import (
    ClientSecretFormat,
    IssuedSecret,
    SecretRequest,
)
from engine.dialects.interface.usage_counts import seconds
from engine.dialects.openai.errors import error_object
from engine.dialects.openai.usage import usage_of
from engine.values.errors import GatewayError, invalid_value
from engine.values.event_json import json_object
from engine.values.trees import Json
from engine.values.usage import Usage

_USAGE_EVENTS = ("response.done", "conversation.item.input_audio_transcription.completed")
_NESTED = "response.event"
"""An event of the Live API that has one of a model which does a task, with its usage at the end."""
_USAGE_EVENT = re.compile(
    rb'"(?:response\.(?:done|completed|incomplete|failed)|[a-z._]+transcription\.completed)"'
)
_MAX_EVENT = 1_000_000
_TOTALS = ("session.usage.updated", "session.closed")
_TOTAL = re.compile(rb'"session\.(?:usage\.updated|closed)"')


def socket_error(error: GatewayError, request_id: str) -> bytes:
    """The `error` event of a session."""
    document = error_object(error, request_id)["error"] | {"event_id": None}
    return orjson.dumps({"type": "error", "event_id": f"event_{request_id}", "error": document})


def socket_usage(message: bytes | bytearray) -> Usage | None:
    """The usage that an event of a session reports: of a response, or of a transcription."""
    if len(message) > _MAX_EVENT or _USAGE_EVENT.search(message) is None:
        return None
    event = json_object(message)
    if event.get("type") == _NESTED:
        return usage_of(event.get("event"))
    return usage_of(event) if event.get("type") in _USAGE_EVENTS else None


def socket_total(message: bytes | bytearray) -> Usage | None:
    """The usage of the whole session so far, as an event reports it: it replaces that of earlier
    events."""
    if len(message) > _MAX_EVENT or _TOTAL.search(message) is None:
        return None
    event = json_object(message)
    if event.get("type") not in _TOTALS:
        return None
    usage: Json | None = event.get("usage")
    total = seconds(usage.get("seconds")) if isinstance(usage, dict) else None
    return Usage(seconds=total, source="upstream") if total else None


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
