"""JSON-RPC messages of MCP: read from the body of a POST, and written.

MCP narrows JSON-RPC 2.0: an id is a string or an integer, one POST has one message, and a client
sends no responses (specification 2026-07-28, basic/index and basic/transports/streamable-http).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Annotated, Any, Literal

import msgspec
import orjson
from msgspec import Meta, Raw, Struct

from engine.values.errors import GatewayError
from engine.values.trees import has_more_levels

MAX_DEPTH = 64
"""Levels of objects and lists that another server's answer may have, and the arguments of its
tools: far more than any schema asks for, and fewer than Python's stack has."""

Id = str | int


class Code(IntEnum):
    """The error codes of JSON-RPC 2.0, and those that MCP adds."""

    PARSE = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    HEADER_MISMATCH = -32020
    UNSUPPORTED_VERSION = -32022


class ProtocolError(Exception):
    """A message is refused. `str` says what is wrong with it and what to send instead."""

    def __init__(self, code: Code, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code, self.data = code, data


class Message(Struct, frozen=True):
    """A request, or a notification, which has no id. `meta` is the object `_meta` of its params,
    empty without one; `body_text` is the JSON of the argument `body` of a call, as it was sent, b""
    if it is not known."""

    method: str
    params: Mapping[str, Any] = {}
    id: Id | None = None
    meta: Mapping[str, Any] = {}
    body_text: bytes = b""


class _Arguments(Struct, frozen=True):
    body: Raw = Raw(b"")


class _CallParams(Struct):
    name: str
    arguments: _Arguments = _Arguments()


class _Call(Struct):
    """The call of a tool, as nearly every client writes it."""

    jsonrpc: Literal["2.0"]
    id: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] | str
    method: Literal["tools/call"]
    params: _CallParams


_read_call = msgspec.json.Decoder(_Call).decode


def read_message(data: bytes | memoryview) -> Message:
    """The message of a body. Raises ProtocolError."""
    try:
        call = _read_call(data)
        params = orjson.loads(data)["params"]
    except (ValueError, RecursionError):  # another message, or none
        return _read_any(data)
    meta, body = params.get("_meta"), bytes(call.params.arguments.body)
    return Message("tools/call", params, call.id, meta if type(meta) is dict else {}, body)


def _read_any(data: bytes | memoryview) -> Message:
    """A message of any method. Raises ProtocolError."""
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise ProtocolError(Code.PARSE, f"The body is not JSON: {error}.") from error
    if isinstance(document, list):
        raise _invalid("A body has one message; send each message of a batch in a POST of its own.")
    if not isinstance(document, dict):
        raise _invalid("The body is not a JSON object.")
    if document.get("jsonrpc") != "2.0":
        raise _invalid("'jsonrpc' is not \"2.0\".")
    method, params, message_id = document.get("method"), document.get("params"), document.get("id")
    if not isinstance(method, str):
        raise _invalid("'method' is not a string. Send a request or a notification.")
    if "id" in document and (not isinstance(message_id, str | int) or isinstance(message_id, bool)):
        raise _invalid("'id' is neither a string nor an integer.")
    if params is None and "params" not in document:
        params = {}
    if not isinstance(params, dict):
        raise _invalid("'params' is not an object.")
    meta = params.get("_meta")
    return Message(method, params, message_id, meta if isinstance(meta, dict) else {})


def result(message_id: Id, document: bytes) -> bytes:
    """The response with a result, whose JSON is `document`."""
    return b'{"jsonrpc":"2.0","id":' + orjson.dumps(message_id) + b',"result":' + document + b"}"


def error(message_id: Id | None, code: int, message: str, data: object = None) -> bytes:
    """The response with an error. `message_id` is None if the request has none that can be read."""
    description: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        description["data"] = data
    return orjson.dumps({"jsonrpc": "2.0", "id": message_id, "error": description})


def error_object(failure: GatewayError, request_id: str) -> dict[str, Any]:
    """The error that a refusal of the gateway is, before there is an answer of the protocol. Its
    code is the HTTP status, which is outside of the codes that JSON-RPC and MCP reserve."""
    data = {"code": failure.code, "request_id": request_id}
    description = {"code": failure.status, "message": failure.message, "data": data}
    return {"jsonrpc": "2.0", "id": None, "error": description}


def _invalid(message: str) -> ProtocolError:
    return ProtocolError(Code.INVALID_REQUEST, message)


def check_depth(data: bytes | memoryview, document: object) -> None:
    """Raises ProtocolError for too many levels. A message with few brackets is not walked."""
    text = bytes(data)
    if text.count(b"{") + text.count(b"[") <= MAX_DEPTH:
        return
    if has_more_levels(document, MAX_DEPTH):
        raise _invalid(f"The message has more than {MAX_DEPTH} levels of objects and lists.")
