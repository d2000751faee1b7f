"""Sessions of the Gemini dialect over a WebSocket: the Live API."""

from __future__ import annotations

from engine.dialects.gemini.usage import usage_of
from engine.values.event_json import json_object
from engine.values.usage import Usage

_USAGE = b'"usageMetadata"'
_MAX_MESSAGE = 1_000_000


def socket_usage(message: bytes | bytearray) -> Usage | None:
    """The usage that a message of the server reports: the tokens of a turn, by modality."""
    if message.find(_USAGE) < 0 or len(message) > _MAX_MESSAGE:
        return None
    document = json_object(message)
    return usage_of(document) if "usageMetadata" in document else None
