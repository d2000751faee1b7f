"""Answers of operations as results of tools.

JSON is structured content, and text as well, since not all clients give a model both. Images and
audio have their own kinds of content; other bytes are an embedded resource. An answer of 4xx or 5xx
is an error of the tool, which a model can read, and no error of the protocol, which it cannot.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import msgspec
import orjson
from msgspec import Struct

from engine.mcp.protocol.streamed_result import stream_text
from engine.values.event_json import json_object
from engine.values.media_types import essence, is_json

MAX_RESULT = 1_000_000
"""Bytes of an answer that a result has. Clients show models 100 KB of it at most, and refuse events
of more than 1 MiB."""
_PREVIEW = 16_000
"""Characters of an answer beyond MAX_RESULT that a result has."""
_TEXT_TYPES = ("text/", "application/xml", "application/javascript", "application/yaml")
_JSON = msgspec.json.Decoder(msgspec.Raw)
"""Reads JSON without making values of it."""
_TEXT_SUFFIXES = ("+xml", "+yaml", "xml", "yaml", "x-www-form-urlencoded", "x-ndjson", "graphql")


def first_header(headers: Sequence[tuple[str, str]], name: str) -> str:
    """The first header of a name in lower case, "" for none."""
    for key, value in headers:
        if key.lower() == name:
            return value
    return ""


def content_length(headers: Sequence[tuple[str, str]]) -> int | None:
    """The size of a body by its Content-Length."""
    length = first_header(headers, "content-length")
    return int(length) if length.isdecimal() and len(length) < 19 else None


class Answer(Struct, frozen=True):
    """The answer to an operation. `body` is all of it, or its beginning if it is not `complete`,
    because it is too large, or `broke_off`. A client may get it again at `link`, "" for nowhere.
    `size` is that of the body as announced, None if it was not."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes
    link: str = ""
    size: int | None = None
    complete: bool = True
    broke_off: bool = False

    def header(self, name: str) -> str:
        """The first header of a name in lower case, "" for none."""
        return first_header(self.headers, name)


class ToolResult(Struct, frozen=True):
    """The result of a tool: its content, and the JSON of its structured content, b"" for none;
    `is_object` says whether that is an object."""

    content: Sequence[dict[str, Any]]
    structured: bytes = b""
    is_object: bool = False
    is_error: bool = False


def text_result(text: str, *, is_error: bool = False) -> ToolResult:
    """A result with a text."""
    return ToolResult(({"type": "text", "text": text},), is_error=is_error)


def json_result(document: object) -> ToolResult:
    """A result with a JSON object of the gateway's own."""
    body = orjson.dumps(document)
    return ToolResult(({"type": "text", "text": body.decode()},), body, is_object=True)


def result_of(answer: Answer, name: str, *, needs_structure: bool = False) -> ToolResult:
    """The result for an answer to the tool of this name. `needs_structure`: clients refuse a result
    without structured content, unless it is an error."""
    if answer.status >= 400:
        return _failure(answer)
    if answer.broke_off:
        text = f"The answer broke off after {len(answer.body)} bytes.\n{_beginning(answer)}"
        return text_result(text, is_error=True)
    if not answer.complete:
        return _too_large(answer, name, is_error=needs_structure)
    result = _content(answer, name)
    if needs_structure and not result.structured:
        return ToolResult(result.content, is_error=True)
    return result


def _content(answer: Answer, name: str) -> ToolResult:
    body, media_type = answer.body, essence(answer.header("content-type"))
    if not body:
        return text_result(_empty(answer))
    if is_json(media_type):
        return _json(body)
    if media_type == "text/event-stream":
        return text_result(stream_text(body))
    if media_type.startswith(("image/", "audio/")) and media_type != "image/svg+xml":
        kind = media_type.partition("/")[0]
        data = base64.b64encode(body).decode()
        return ToolResult(({"type": kind, "data": data, "mimeType": media_type},))
    if _is_text(media_type):
        return text_result(body.decode("utf-8", "replace"))
    return _resource(answer, media_type, name)


def _json(body: bytes) -> ToolResult:
    """The result of a body that should be JSON; of one that is not, its text."""
    try:
        text = body.decode()
        _JSON.decode(body)
    except (UnicodeDecodeError, msgspec.DecodeError, RecursionError):
        return text_result(body.decode("utf-8", "replace"))
    is_object = text.lstrip(" \t\r\n").startswith("{")
    return ToolResult(({"type": "text", "text": text},), body, is_object=is_object)


def _resource(answer: Answer, media_type: str, name: str) -> ToolResult:
    """Bytes that no model can read, for its client."""
    resource = {
        "uri": f"modelway:///{name}",
        "mimeType": media_type or "application/octet-stream",
        "blob": base64.b64encode(answer.body).decode(),
    }
    text = f"{name} returned {len(answer.body)} bytes of {resource['mimeType']}."
    return ToolResult(({"type": "text", "text": text}, {"type": "resource", "resource": resource}))


def _too_large(answer: Answer, name: str, *, is_error: bool) -> ToolResult:
    size = f"{answer.size} bytes" if answer.size is not None else f"over {MAX_RESULT} bytes"
    text = (
        f"The answer is too large for a tool's result ({size}). Ask for less, if the tool has "
        "arguments for that."
    )
    media_type = essence(answer.header("content-type"))
    if is_json(media_type) or _is_text(media_type):
        text += f" It begins:\n{_beginning(answer)}"
    content: list[dict[str, Any]] = [{"type": "text", "text": text}]
    if answer.link:
        link = {"type": "resource_link", "uri": answer.link, "name": name}
        content.append({**link, **({"mimeType": media_type} if media_type else {})})
    return ToolResult(content, is_error=is_error)


def _failure(answer: Answer) -> ToolResult:
    """The error of a tool: its status, its place and message if it has them, and what else was
    answered."""
    lines = [f"HTTP {answer.status}"]
    if wait := answer.header("retry-after"):
        lines[0] += f", try again after {wait[:64]} s" if wait.isdecimal() else ""
    place, message = _reason(answer.body)
    if message:
        lines[0] += f" {place}: {message}" if place else f": {message}"
    elif answer.body:
        lines.append(_beginning(answer))
    return text_result("\n".join(lines), is_error=True)


def _reason(body: bytes) -> tuple[str, str]:
    """The place in the request, and the message, of an error in the gateway's form or in one that
    says no more than that."""
    error = json_object(body).get("error")
    if not isinstance(error, dict) or not isinstance(error.get("message"), str):
        return "", ""
    members = {"message", "code", "type", "param", "status", "request_id"}
    if not members.issuperset(error):
        return "", ""  # shown as it is
    place = error.get("param")
    return place if isinstance(place, str) else "", error["message"]


def _empty(answer: Answer) -> str:
    location = answer.header("location")
    return f"HTTP {answer.status}, no body" + (f", location: {location}" if location else "")


def _beginning(answer: Answer) -> str:
    return answer.body[:_PREVIEW].decode("utf-8", "replace")


def _is_text(media_type: str) -> bool:
    return media_type.startswith(_TEXT_TYPES) or media_type.endswith(_TEXT_SUFFIXES)
