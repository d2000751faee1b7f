"""Sessions of the Gemini dialect over a WebSocket: the Live API."""

from __future__ import annotations

import orjson

from engine.dialects.gemini.usage import usage_of
from engine.values.usage import Usage

_USAGE = b'"usageMetadata"'
_MAX_MESSAGE = 1_000_000


def socket_usage(message: bytes | bytearray) -> Usage | None:
    """The usage that a message of the server reports: the tokens of a turn, by modality."""
    if message.find(_USAGE) < 0 or len(message) > _MAX_MESSAGE:
        return None
    try:
        document = orjson.loads(message)
    except orjson.JSONDecodeError:
        return None
    has_usage = isinstance(document, dict) and "usageMetadata" in document
    return usage_of(document) if has_usage else None
