"""Usage in the Live API of the OpenAI dialect (`/v1/live/sessions`): seconds of audio, which events
report as a sum of the session, and the tokens of the models that do its tasks."""

from __future__ import annotations

import re

import orjson

from engine.dialects.interface.usage import seconds
from engine.values.trees import Json
from engine.values.usage import Usage

_TOTALS = ("session.usage.updated", "session.closed")
_TOTAL = re.compile(rb'"session\.(?:usage\.updated|closed)"')
_MAX_EVENT = 1_000_000


def socket_total(message: bytes | bytearray) -> Usage | None:
    """The usage of the whole session so far, as an event reports it: it replaces that of earlier
    events."""
    if len(message) > _MAX_EVENT or _TOTAL.search(message) is None:
        return None
    try:
        event = orjson.loads(message)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(event, dict) or event.get("type") not in _TOTALS:
        return None
    usage: Json | None = event.get("usage")
    total = seconds(usage.get("seconds")) if isinstance(usage, dict) else None
    return Usage(seconds=total, source="upstream") if total else None
