"""The messages of a client of the Responses API over a WebSocket, and the gateway's own to it.

The law: fields stand at the top level of the JSON beside `type`; an error is nested and has a
`status`, because Codex waits on for an answer after any other (measured with 0.171).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from engine.sockets.large_messages import read_large_message
from engine.values.errors import GatewayError
from engine.values.trees import Json

_CREATE, _STEER = "response.create", "response.steer"
_is_stream_id = re.compile(r"[A-Za-z0-9_.-]{1,256}").fullmatch
_OF_THE_SOCKET = ("type", "stream_id", "generate", "client_metadata", "previous_response_id")
"""Members of a message that the request of its response does not have. `client_metadata` is Codex's
and unknown to other servers; it says the same in headers."""
_MAX_DEPTH = 250
"""Levels of JSON that orjson surely writes, which reads up to 1,024."""
_MAX_SHOWN = 100
"""Characters of a client's value that an error shows."""


class Create(NamedTuple):
    """`response.create`: the request that it stands for, without what the socket adds.

    `stream_id` names its lane, "" for the default one; `previous` is the id of the response that it
    continues, "" for none. `generate` is false for a request that only prepares the next one.
    `items` are those of its input as they were written, None where they are to be read from it.
    """

    request: Json
    stream_id: str = ""
    previous: str = ""
    generate: bool = True
    items: bytes | None = None


class Steer(NamedTuple):
    """`response.steer`: input for a response that is being made."""

    previous: object
    input: object


class InvalidMessage(Exception):
    """A message that is not a request. `stream_id` is that of its lane, if it has a valid one."""

    def __init__(self, error: GatewayError, stream_id: str = "") -> None:
        super().__init__(error.message)
        self.error, self.stream_id = error, stream_id


def read_message(data: bytes, above: float = math.inf) -> Create | Steer:
    """Read the text of a message; of one of more than `above` bytes what it nests is not parsed.
    Raises InvalidMessage."""
    items = None
    try:
        if len(data) <= above:
            message = orjson.loads(data)
        else:
            message, items = read_large_message(data) or (None, None)
    except orjson.JSONDecodeError as error:
        raise _invalid("invalid_json", f"The message is not valid JSON: {error}.") from None
    if not isinstance(message, dict):
        raise _invalid("invalid_type", "The message must be a JSON object with a 'type'.")
    stream_id = _stream_id(message)
    kind = message.get("type")
    if kind == _STEER:
        return Steer(message.get("previous_response_id"), message.get("input"))
    if kind != _CREATE:
        text = f"'{str(kind)[:_MAX_SHOWN]}' is not the type of a message here; send '{_CREATE}'."
        raise _invalid("unknown_event_type", text, "type", stream_id)
    return _create(message, stream_id, items)


def _create(message: Json, stream_id: str, items: bytes | None) -> Create:
    previous, generate = message.get("previous_response_id"), message.get("generate")
    if not (previous is None or isinstance(previous, str)):
        text = "'previous_response_id' must be a string or null."
        raise _invalid("invalid_type", text, "previous_response_id", stream_id)
    if not (generate is None or isinstance(generate, bool)):
        raise _invalid("invalid_type", "'generate' must be true or false.", "generate", stream_id)
    if message.get("background"):
        text = "A response over a WebSocket cannot be made in the background; leave it out."
        raise _invalid("unsupported_value", text, "background", stream_id)
    request = {name: value for name, value in message.items() if name not in _OF_THE_SOCKET}
    request["stream"] = True
    return Create(request, stream_id, previous or "", generate is not False, items)


def _stream_id(message: Json) -> str:
    stream_id = message.get("stream_id", "")
    if stream_id == "" and "stream_id" not in message:
        return ""
    if isinstance(stream_id, str) and _is_stream_id(stream_id):
        return stream_id
    text = "'stream_id' must have 1 to 256 characters of A-Z, a-z, 0-9, '_', '.' and '-'."
    raise _invalid("invalid_stream_id", text, "stream_id")


def _invalid(code: str, message: str, param: str = "", stream_id: str = "") -> InvalidMessage:
    return InvalidMessage(GatewayError(400, code, message, param=param), stream_id)


def error_message(
    status: int,
    error: Mapping[str, Any],
    stream_id: str = "",
    headers: Mapping[str, str] | None = None,
) -> bytes:
    """An error as a client reads it; `headers` are those of the response that it stands for."""
    event: Json = {"type": "error", "status": status, "error": error}
    if headers:
        event["headers"] = headers
    if stream_id:
        event["stream_id"] = stream_id
    return orjson.dumps(event)


def own_error(error: GatewayError, stream_id: str = "") -> bytes:
    """An error of the gateway as a client reads it."""
    kind = "server_error" if error.status >= 500 else "invalid_request_error"
    document = {"type": kind, "code": error.code, "message": error.message}
    document["param"] = error.param or None  # type: ignore[assignment]
    return error_message(error.status, document, stream_id)


def nested_too_deep() -> GatewayError:
    """400 for JSON that is nested deeper than it can be written again."""
    message = f"The message is nested too deeply; write at most {_MAX_DEPTH} levels."
    return GatewayError(400, "invalid_json", message)


def steering_failed(steer: Steer) -> bytes:
    """The answer to `response.steer`: no upstream behind a gateway is sure to have it. Raises
    InvalidMessage."""
    error = {
        "type": "invalid_request_error",
        "code": "steering_not_supported",
        "message": "This gateway does not steer responses; send a 'response.create' afterwards.",
    }
    steering = {"previous_response_id": steer.previous, "input": steer.input}
    event = {"type": "response.steer.failed", "sequence_number": 0, "error": error}
    try:
        return orjson.dumps({**event, "steer": steering})
    except orjson.JSONEncodeError:
        raise InvalidMessage(nested_too_deep()) from None


def with_stream_id(event: bytes, stream_id: str) -> bytes:
    """The JSON of an event with the id of its lane, if that has one."""
    if not stream_id:
        return event
    comma = b"" if event[1:2] == b"}" else b","
    return b'%b%b"stream_id":"%b"}' % (event.rstrip()[:-1], comma, stream_id.encode())


def response_not_found(previous: str) -> GatewayError:
    """400 for the id of a response that this socket does not remember: clients send all again."""
    return GatewayError(
        400,
        "previous_response_not_found",
        f"Previous response with id '{previous[:_MAX_SHOWN]}' not found on this connection. "
        "Send the whole conversation in 'input' without 'previous_response_id'.",
        param="previous_response_id",
    )
