"""The schemas of tools' arguments as OpenAI takes them.

The vendor refuses a function whose schema is no object with `properties`, and any array without
`items`; Anthropic and Gemini take both, and servers of tools declare them.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec
from msgspec import Raw

from engine.translations.neutral.json_members import OBJECT, decode
from engine.translations.neutral.request import Tool

_VALUES = frozenset(("const", "default", "enum", "example", "examples"))
"""Keywords whose values are no schemas."""

_MAX_CACHED = 20_000


def write_parameters(tool: Tool) -> Raw | None:
    """The schema of a tool's arguments, None for none. Raises WrongType."""
    schema = tool.schema
    if schema is None:
        return None
    members = decode(OBJECT, schema, tool.place, "a tool whose schema is an object")
    if "type" not in members or (members["type"] == _OBJECT and "properties" not in members):
        schema = Raw(msgspec.json.encode({"type": _OBJECT, "properties": _EMPTY, **members}))
    text = bytes(schema)
    if text.count(b'"array"') <= text.count(b'"items"'):
        return schema
    return Raw(_cached(text) if len(text) <= _MAX_CACHED else _with_items(text))


_OBJECT, _EMPTY = Raw(b'"object"'), Raw(b"{}")


def _with_items(text: bytes) -> bytes:
    schema = msgspec.json.decode(text)
    _complete(schema)
    return msgspec.json.encode(schema)


_cached = lru_cache(maxsize=256)(_with_items)
"""Agents declare the same tools with every request."""


def _complete(schema: object) -> None:
    """Let the arrays in a schema say that their items may be anything."""
    if isinstance(schema, list):
        for each in schema:
            _complete(each)
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "array" and schema.keys().isdisjoint(("items", "prefixItems")):
        schema["items"] = {}
    for keyword, value in schema.items():
        if keyword not in _VALUES:
            _complete(value)
