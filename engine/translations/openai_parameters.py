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
    text = bytes(schema)
    written = _cached(text) if len(text) <= _MAX_CACHED else _written(text)
    if written is None:
        decode(OBJECT, schema, tool.place, "a tool whose schema is an object")
    return written


_OBJECT, _EMPTY = Raw(b'"object"'), Raw(b"{}")


def _written(text: bytes) -> Raw | None:
    """The schema as the vendor takes it, None if it is not an object."""
    try:
        members = OBJECT.decode(text)
    except msgspec.ValidationError:
        return None
    if "type" not in members or (members["type"] == _OBJECT and "properties" not in members):
        text = msgspec.json.encode({"type": _OBJECT, "properties": _EMPTY, **members})
    if text.count(b'"array"') > text.count(b'"items"'):
        schema = msgspec.json.decode(text)
        _complete(schema)
        text = msgspec.json.encode(schema)
    return Raw(text)


_cached = lru_cache(maxsize=256)(_written)
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
