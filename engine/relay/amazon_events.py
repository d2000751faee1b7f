"""Translates an Amazon event stream into server-sent events, and its errors into JSON.

An event becomes a JSON object with one member, named like the event, as in the vendor's service
model. A `chunk` of Bedrock's InvokeModelWithResponseStream holds an event of the model's own API,
in base64, and becomes that event. An exception becomes the JSON of an error, without `data:`, which
ends the stream and is an error in every dialect.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
import orjson
from msgspec import Struct
from msgspec.json import Decoder

from engine.relay.amazon_event_stream import BrokenMessage, Message, MessageReader
from engine.relay.filter import Filter
from engine.values.event_json import json_object

_STATUSES = {
    "validationException": 400,
    "accessDeniedException": 403,
    "resourceNotFoundException": 404,
    "modelTimeoutException": 408,
    "throttlingException": 429,
    "modelNotReadyException": 429,
    "internalServerException": 500,
    "modelStreamErrorException": 502,  # 424 in the model, whose text says: retry your request
    "serviceUnavailableException": 503,
}
"""The HTTP statuses of Bedrock's exceptions (botocore's model of bedrock-runtime); 500 for all
others."""

_LINE_ENDS = bytes.maketrans(b"\r\n", b"  ")
_EVENT_NAME = re.compile(r"[A-Za-z_.-]{1,100}")


class _Chunk(Struct, rename={"data": "bytes"}):
    data: bytes


class _Typed(Struct):
    type: str | None = None


_CHUNK = Decoder(_Chunk)
_TYPED = Decoder(_Typed)


class AmazonEvents(Filter):
    """Turns the bytes of an Amazon event stream into server-sent events."""

    def __init__(self) -> None:
        self._reader = MessageReader()

    def feed(self, data: bytes) -> bytes:
        """The events that `data` completes, `b""` for none."""
        events: list[bytes] = []
        try:
            self._reader.feed(data)
            while self.failure is None and (message := self._reader.next()) is not None:
                events.append(_event(message))
        except BrokenMessage as failure:
            self.failure = failure
        return b"".join(events)

    def finish(self) -> bytes:
        """No event: an end within a message is a failure."""
        if self._reader.inside:
            self.failure = EOFError("a message is not complete")
        return b""


def _event(message: Message) -> bytes:
    kind = message.text(":message-type")
    if kind == "event":
        name = message.text(":event-type")
        if name == "chunk":
            return _chunk(message.payload)
        data = b"{%b:%b}" % (orjson.dumps(name), message.payload.translate(_LINE_ENDS) or b"{}")
        return b"data: " + data + b"\n\n"
    if kind == "exception":
        text = json_object(message.payload).get("message")
        return _error(message.text(":exception-type"), text)
    if kind == "error":
        return _error(message.text(":error-code"), message.text(":error-message"))
    raise BrokenMessage("has a message of an unknown kind")


def _chunk(payload: bytes) -> bytes:
    """The event of the model's own API, with its name if it has one."""
    try:
        data = _CHUNK.decode(payload).data.translate(_LINE_ENDS)
    except msgspec.DecodeError as error:
        raise BrokenMessage("has a chunk without an event in base64") from error
    try:
        name = _TYPED.decode(data).type
    except (msgspec.DecodeError, RecursionError):
        name = None
    head = f"event: {name}\n".encode() if name and _EVENT_NAME.fullmatch(name) else b""
    return head + b"data: " + data + b"\n\n"


def _error(name: str, message: Any) -> bytes:
    name = name[:1].lower() + name[1:]
    text = message if isinstance(message, str) and message else name or "The request failed."
    error = {"code": _STATUSES.get(name, 500), "message": text}
    return orjson.dumps({"type": "error", "error": error}) + b"\n\n"
