"""Sessions of the OpenAI dialect over a WebSocket: the Realtime API."""

from __future__ import annotations

import re

import orjson

from engine.dialects.openai.errors import error_object
from engine.dialects.openai.usage import usage_of
from engine.values.errors import GatewayError
from engine.values.usage import Usage

_USAGE_EVENTS = ("response.done", "conversation.item.input_audio_transcription.completed")
_NESTED = "response.event"
"""An event of the Live API that has one of a model which does a task, with its usage at the end."""
_USAGE_EVENT = re.compile(
    rb'"(?:response\.(?:done|completed|incomplete|failed)|[a-z._]+transcription\.completed)"'
)
_MAX_EVENT = 1_000_000


def socket_error(error: GatewayError, request_id: str) -> bytes:
    """The `error` event of a session."""
    document = error_object(error, request_id)["error"] | {"event_id": None}
    return orjson.dumps({"type": "error", "event_id": f"event_{request_id}", "error": document})


def socket_usage(message: bytes | bytearray) -> Usage | None:
    """The usage that an event of a session reports: of a response, or of a transcription."""
    if len(message) > _MAX_EVENT or _USAGE_EVENT.search(message) is None:
        return None
    try:
        event = orjson.loads(message)
    except orjson.JSONDecodeError:
        return None
    if isinstance(event, dict) and event.get("type") == _NESTED:
        return usage_of(event.get("event"))
    kind = event.get("type") if isinstance(event, dict) else None
    return usage_of(event) if kind in _USAGE_EVENTS else None
