"""Sessions of the OpenAI dialect over a WebSocket: the Realtime API, and the Live API
(`/v1/live/sessions`), whose events report seconds of audio as a sum of the session, and the tokens
of the models that do its tasks."""

from __future__ import annotations

import re

import orjson

from engine.dialects.interface.usage import seconds
from engine.dialects.openai.errors import error_object
from engine.dialects.openai.usage import usage_of
from engine.values.errors import GatewayError
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
