"""Streams: what a vendor's SDKs accept in a stream, and how an error event is recognised and
read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, NamedTuple
from urllib.parse import parse_qs

import orjson
from msgspec import Struct

from engine.values.trees import Json

END_MARKER = b"[DONE]"
"""The data of the event that ends a stream of the OpenAI dialect."""


class StreamRules(Struct, frozen=True, kw_only=True):
    """`names`: events have names, and their data may have several lines. `comments`: comments are
    accepted between events. `end_marker`: `[DONE]` is accepted as the last event. What a dialect's
    SDKs do not accept is removed by `engine.relay.sse.Cleaner`. `oddity` is what some servers write
    from the first events on, which SDKs refuse, and `remedy` what replaces it, as `re.sub` has it.
    """

    names: bool = True
    comments: bool = True
    end_marker: bool = True
    oddity: re.Pattern[bytes] | None = None
    remedy: bytes | Callable[[re.Match[bytes]], bytes] = b""


DEFAULT_RULES = StreamRules()

UNTYPED = rb'^event: (?P<name>%b)\ndata: \{(?![^\n]*"type"\s*:\s*"(?P=name)")(\s*\})?'
"""An event whose type, one of a pattern, is its name alone: two groups, the second at its end."""


def with_type(name: bytes, end: bytes | None) -> bytes:
    """The beginning of such an event with its type in its data, where SDKs read it."""
    return b'event: %b\ndata: {"type":"%b"%b' % (name, name, b"," if end is None else b"}")


ERROR_PREFIXES = (
    *(b'{"error":{', b'{"error":"', b'{"type":"error"', b'{"object":"error"'),
    *(b'[{"error":{', b'[{"type":"error"'),
)
"""The beginnings, without white space, of JSON texts that report an error in place of an answer."""


class Framing(Enum):
    """How an answer is framed: as a request wants it, or as its bytes are."""

    WHOLE = "a JSON text in one piece"
    EVENTS = "server-sent events"
    ARRAY = "a JSON array, of a stream the array of its events"
    UNKNOWN = "something else"


def wanted_by_member(path: str, query: str, body: object) -> Framing:
    """The framing that a request wants whose member `stream` says so."""
    if isinstance(body, dict) and (member := body.get("stream")):
        return Framing.EVENTS if member is True or member == "true" else Framing.WHOLE
    return Framing.WHOLE


def alt_is_sse(query: str) -> bool:
    """Whether a query wants server-sent events, not a JSON array, by the parameter `alt` of
    Google's APIs (https://docs.cloud.google.com/apis/docs/system-parameters)."""
    parameters = parse_qs(query)
    return "sse" in [*parameters.get("alt", ()), *parameters.get("$alt", ())]


class StreamError(NamedTuple):
    """An error event of a stream as a response: its status and its JSON body."""

    status: int
    document: Any


def error_in(document: object) -> Json | None:
    """The object `error` of a JSON value; None where there is none."""
    error = document.get("error") if isinstance(document, dict) else None
    return error if isinstance(error, dict) else None


def index_in(choice: Json, position: int) -> int:
    """The index of a choice, its position among those of its event if it names none."""
    index = choice.get("index")
    return index if type(index) is int else position


def objects_in(value: object) -> list[Json]:
    """The objects in a JSON array; none in any other value."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def write_stream(events: Iterable[tuple[str, Json]]) -> bytes:
    """Server-sent events by their names ("" for none) and their JSON; `b""` if that is nested more
    deeply than can be written: it is read with more levels."""
    try:
        return b"".join(_event(name, document) for name, document in events)
    except orjson.JSONEncodeError:
        return b""


def _event(name: str, document: Json) -> bytes:
    line = b"event: %b\n" % name.encode() if name else b""
    return b"%bdata: %b\n\n" % (line, orjson.dumps(document))


def status_in(value: object) -> int | None:
    """An HTTP error status given as a number or as three digits; None for any other value."""
    if isinstance(value, str) and len(value) == 3 and value.isascii() and value.isdigit():
        value = int(value)
    return value if type(value) is int and 400 <= value <= 599 else None
