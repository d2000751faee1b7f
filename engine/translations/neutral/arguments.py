"""The arguments of tool calls: the JSON text of an object, and its schema."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from engine.translations.neutral.content import ToolCall
from engine.translations.neutral.members import OBJECT, WrongType, decode
from engine.translations.neutral.request import Tool

_NOTHING = (b"", b"null", b"{}", b"[]")

LARGEST = 4_000_000
"""The largest sum of characters of all arguments in an answer; they are buffered until each call is
complete."""


def are_object(text: str) -> bool:
    """Whether a text can be the arguments of a call: a JSON object, or nothing."""
    try:
        OBJECT.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return not text.strip()
    return True


def arguments_of(raw: Raw) -> str:
    """The arguments in the JSON of an answer, where an object belongs: some servers write its text
    as a string. Empty for none."""
    text = bytes(raw)
    if text[:1] == b'"':
        return msgspec.json.decode(text, type=str)
    return "" if text in _NOTHING else text.decode()


def arguments_object(call: ToolCall) -> Raw:
    """The arguments as an object, with their own key order and number text. Raises WrongType."""
    if not are_object(call.arguments):
        raise WrongType(call.place or f"the arguments of {call.name}", "a JSON object")
    return Raw(call.arguments.strip().encode() or b"{}")


NO_ARGUMENTS = {"type": "object", "properties": {}}
"""The schema of the arguments of a tool that has none."""


def arguments_schema(tool: Tool) -> Any:
    """The schema of a tool's arguments, for vendors that require its `type`. Raises WrongType."""
    if tool.schema is None:
        return NO_ARGUMENTS
    members = decode(OBJECT, tool.schema, tool.place, "a tool whose schema is an object")
    return tool.schema if "type" in members else {"type": "object", **members}
