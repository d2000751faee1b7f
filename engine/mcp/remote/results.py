"""The results of another MCP server's tools as results of ours: content of the known kinds, valid
and within bounds. Clients lose a whole result for one part that they do not know."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from msgspec.structs import replace

from engine.mcp.protocol.results import MAX_RESULT, ToolResult, text_result

MAX_PARTS = 200
_MAX_URI = 2_048
_INPUT_REQUIRED = (
    "The server wants more input from its user before it answers, which the gateway does not pass "
    "on. Call the tool with all of its arguments, or use the server without the gateway."
)


def remote_result(document: Mapping[str, Any]) -> ToolResult:
    """The result of a call, of the result that a server answered with."""
    if document.get("resultType", "complete") != "complete":
        return text_result(_INPUT_REQUIRED, is_error=True)
    content = document.get("content")
    if isinstance(content, str):  # as some servers write one text
        content = [{"type": "text", "text": content}]
    parts = content if isinstance(content, list) else []
    valid = [part for each in parts[:MAX_PARTS] if (part := _part(each)) is not None]
    count = len(parts) - len(valid)
    if count:
        text = f"{count} parts of the server's result are left out: clients cannot read them."
        valid.append({"type": "text", "text": text})
    structured = document.get("structuredContent")
    body = b"" if structured is None else orjson.dumps(structured)
    is_error = document.get("isError") is True
    if len(body) > MAX_RESULT:
        return text_result("The server's structured content is too large.", is_error=True)
    if body and not valid:
        valid.append({"type": "text", "text": body.decode()})
    return ToolResult(valid, body, is_object=type(structured) is dict, is_error=is_error)


def result_of_schema(result: ToolResult) -> ToolResult:
    """The result as clients take it of a tool with an output schema. Without structured content it
    is an error. With some, an error has that as text: the TypeScript SDK (1.x) and its inspector
    hold it against the schema, and show their complaint in place of what happened."""
    if not result.is_error:
        return result if result.structured else replace(result, is_error=True)
    content, text = [*result.content], {"type": "text", "text": result.structured.decode()}
    if result.structured and text not in content:
        content.append(text)
    return replace(result, content=content, structured=b"")


def _part(part: object) -> dict[str, Any] | None:
    """A part of a result with the members that are known, None for one that clients refuse."""
    if not isinstance(part, dict):
        return None
    kind = part.get("type")
    if kind == "text" and isinstance(part.get("text"), str):
        return {"type": "text", "text": part["text"]}
    if kind in ("image", "audio"):
        return _media(kind, part)
    if kind == "resource":
        return _resource(part.get("resource"))
    if kind == "resource_link":
        link = dict(_texts(part, "uri", "name", "title", "description", "mimeType"))
        is_link = "uri" in link and "name" in link and len(link["uri"]) <= _MAX_URI
        return {"type": "resource_link", **link} if is_link else None
    return None


def _media(kind: str, part: Mapping[str, Any]) -> dict[str, Any] | None:
    members = dict(_texts(part, "data", "mimeType"))
    is_valid = len(members) == 2 and _is_base64(members["data"])
    return {"type": kind, **members} if is_valid else None


def _resource(resource: object) -> dict[str, Any] | None:
    if not isinstance(resource, dict):
        return None
    members = dict(_texts(resource, "uri", "mimeType", "text", "blob"))
    has_content = "text" in members or ("blob" in members and _is_base64(members["blob"]))
    if "uri" not in members or not has_content or len(members["uri"]) > _MAX_URI:
        return None
    return {"type": "resource", "resource": members}


def _texts(part: Mapping[str, Any], *names: str) -> Iterator[tuple[str, str]]:
    yield from ((name, part[name]) for name in names if isinstance(part.get(name), str))


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True
