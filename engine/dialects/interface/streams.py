"""Streams: what a vendor's SDKs accept in a stream, and how an error event is recognised and
read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

END_MARKER = b"[DONE]"
"""The data of the event that ends a stream of the OpenAI dialect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRules:
    """`names`: events have names, and their data may have several lines. `comments`: comments are
    accepted between events. `end_marker`: `[DONE]` is accepted as the last event. What a dialect's
    SDKs do not accept is removed by `engine.relay.sse.Cleaner`."""

    names: bool = True
    comments: bool = True
    end_marker: bool = True


DEFAULT_RULES = StreamRules()

ERROR_PREFIXES = (
    *(b'{"error":{', b'{"error":"', b'{"type":"error"', b'{"object":"error"'),
    *(b'[{"error":{', b'[{"type":"error"'),
)
"""The beginnings, without white space, of JSON texts that report an error in place of an answer."""


class StreamError(NamedTuple):
    """An error event of a stream as a response: its status and its JSON body."""

    status: int
    document: Any


def error_in(document: Any) -> dict[str, Any] | None:
    """The object `error` of a JSON value; None where there is none."""
    error = document.get("error") if isinstance(document, dict) else None
    return error if isinstance(error, dict) else None


def status_in(value: Any) -> int | None:
    """An HTTP error status given as a number or as three digits; None for any other value."""
    if isinstance(value, str) and len(value) == 3 and value.isascii() and value.isdigit():
        value = int(value)
    return value if type(value) is int and 400 <= value <= 599 else None
