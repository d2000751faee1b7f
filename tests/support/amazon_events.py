"""Messages of Amazon event streams, as an upstream writes them."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterable
from typing import Any
from uuid import UUID
from zlib import crc32

KIND = "application/vnd.amazon.eventstream"
AMAZON_EVENTS = [("content-type", KIND)]


class Typed:
    """A number in a header, with its type: 2, 3, 4, 5 or 8 (a time)."""

    def __init__(self, kind: int, value: int) -> None:
        self.kind, self.value = kind, value


_NUMBERS = {2: "!b", 3: "!h", 4: "!i", 5: "!q", 8: "!q"}


def message(headers: Iterable[tuple[str, Any]], payload: bytes = b"") -> bytes:
    """A message."""
    head = b"".join(bytes([len(name.encode())]) + name.encode() + _value(o) for name, o in headers)
    lengths = struct.pack("!II", 16 + len(head) + len(payload), len(head))
    data = lengths + struct.pack("!I", crc32(lengths)) + head + payload
    return data + struct.pack("!I", crc32(data))


def _value(value: Any) -> bytes:
    if isinstance(value, bool):
        return b"\x00" if value else b"\x01"
    if isinstance(value, Typed):
        return bytes([value.kind]) + struct.pack(_NUMBERS[value.kind], value.value)
    if isinstance(value, UUID):
        return b"\x09" + value.bytes
    data = value.encode() if isinstance(value, str) else value
    return (b"\x07" if isinstance(value, str) else b"\x06") + struct.pack("!H", len(data)) + data


def event(name: str, payload: Any) -> bytes:
    """An event of Bedrock's ConverseStream."""
    return _message("event", ":event-type", name, payload)


def chunk(document: Any) -> bytes:
    """An event of InvokeModelWithResponseStream, which holds one of the model's own API."""
    text = base64.b64encode(json.dumps(document).encode()).decode()
    return event("chunk", {"bytes": text, "p": "abcdefgh"})


def exception(name: str, text: str) -> bytes:
    """An exception, which ends a stream."""
    return _message("exception", ":exception-type", name, {"message": text})


def _message(kind: str, header: str, name: str, payload: Any) -> bytes:
    headers = [(header, name), (":content-type", "application/json"), (":message-type", kind)]
    return message(headers, json.dumps(payload, separators=(",", ":")).encode())
