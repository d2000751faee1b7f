"""JSON-RPC messages of MCP: read from the body of a POST, and written.

MCP narrows JSON-RPC 2.0: an id is a string or an integer, one POST has one message, and a client
sends no responses (specification 2026-07-28, basic/index and basic/transports/streamable-http).
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from enum import IntEnum
from typing import Annotated, Any, Literal

import msgspec
import orjson
from msgspec import Meta, Raw, Struct
from msgspec.structs import replace

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
    empty without one; `body_text` is the JSON of the argument `body` of a call as it was sent,
    `inner_body_text` that of the member `body` of its argument `arguments`, b"" if not known."""

    method: str
    params: Mapping[str, Any] = {}
    id: Id | None = None
    meta: Mapping[str, Any] = {}
    body_text: bytes = b""
    inner_body_text: bytes = b""


class _Arguments(Struct, frozen=True):
    body: Raw = Raw(b"")
    arguments: Raw = Raw(b"")


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
_read_arguments = msgspec.json.Decoder(_Arguments).decode

_LARGE = 4_096
"""Bytes of a message that is read in two parts, its body and the rest: in smaller ones it costs
less to read the body twice than to look for its end."""
_BODY = re.compile(rb'"body"\s*:\s*(?=\{)')
_MARK = b'"%b"' % secrets.token_hex(16).encode()
"""The JSON in place of the body while the rest is read. No message has it."""


def read_message(data: bytes | memoryview) -> Message:
    """The message of a body. Raises ProtocolError."""
    try:
        message = _in_parts(bytes(data)) if len(data) > _LARGE else None
        return message or _call_message(data)
    except (ValueError, RecursionError):  # another message, or none
        return _read_any(data)


def _call_message(data: bytes | memoryview) -> Message:
    """The message of a call. Raises ValueError or RecursionError for another one."""
    arguments, inner = (call := _read_call(data)).params.arguments, b""
    params = orjson.loads(data)["params"]
    if arguments.arguments:
        try:
            inner = bytes(_read_arguments(arguments.arguments).body)
        except (ValueError, RecursionError):
            inner = b""  # of another form than the arguments of a tool
    meta, body = params.get("_meta"), bytes(arguments.body)
    meta = meta if type(meta) is dict else {}
    return Message("tools/call", params, call.id, meta, body, inner)


def _in_parts(data: bytes) -> Message | None:
    """The message of a call whose body is an object, and its last argument; None for any other.

    Clients write the members of a message in few orders, which tell where its body ends. That is a
    guess until the rest is a call with this body: a body that is JSON, in a place that has a value
    in a text that is JSON, is that value.
    """
    begin = _BODY.search(data)
    if begin is None:
        return None
    start = begin.end()
    end = _body_end(data, b"}" * data.count(b'"arguments"', 0, start))
    try:
        message = _call_message(data[:start] + _MARK + data[end:])
        arguments, text = message.params["arguments"], data[start:end]
        if message.body_text == _MARK:
            arguments["body"] = orjson.loads(text)
            return replace(message, body_text=text)
        if message.inner_body_text == _MARK:
            arguments["arguments"]["body"] = orjson.loads(text)
            return replace(message, inner_body_text=text)
    except (ValueError, RecursionError):
        return None
    return None


def _body_end(data: bytes, brackets: bytes) -> int:
    """Where the body probably ends: before so many brackets of the arguments around it, behind
    which are other members of the params, or of the message, or its end."""
    for member in (b',"_meta":', b'},"jsonrpc":'):
        at = data.rfind(brackets + member, -_LARGE)
        if at >= 0:
            return at
    return len(data.rstrip()) - len(brackets) - 2


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
