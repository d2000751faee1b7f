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
from engine.values.trees import Json

_VALUES = frozenset(("const", "default", "enum", "example", "examples"))
"""Keywords whose values are no schemas."""

_MAPS = frozenset(("properties", "patternProperties", "dependentSchemas", "$defs", "definitions"))
"""Keywords whose values are schemas by any names, which may be those of keywords."""

_MAX_CACHED = 20_000


def write_parameters(tool: Tool) -> Raw | None:
    """The schema of a tool's arguments, None for none. Raises WrongType."""
    schema = tool.schema
    if schema is None:
        return None
    text = bytes(schema)
    parameters = _cached(text) if len(text) <= _MAX_CACHED else _parameters(text)
    if parameters is None:
        decode(OBJECT, schema, tool.place, "a tool whose schema is an object")
    return parameters


_OBJECT, _EMPTY = Raw(b'"object"'), Raw(b"{}")


def _parameters(text: bytes) -> Raw | None:
    """The schema as the vendor takes it, None if it is not an object."""
    try:
        members = OBJECT.decode(text)
    except msgspec.ValidationError:
        return None
    if "type" not in members or (members["type"] == _OBJECT and "properties" not in members):
        text = msgspec.json.encode({"type": _OBJECT, "properties": _EMPTY, **members})
    if b'"array"' in text:
        schema = msgspec.json.decode(text)
        if _complete(schema):
            text = msgspec.json.encode(schema)
    return Raw(text)


_cached = lru_cache(maxsize=256)(_parameters)
"""Agents declare the same tools with every request."""


def _complete(schema: object) -> bool:
    """Let the arrays in a schema say that their items may be anything. Returns whether one said
    nothing of them."""
    is_changed = False
    pending = [schema]
    while pending:
        value = pending.pop()
        if isinstance(value, list):
            pending += value
        if not isinstance(value, dict):
            continue
        if _is_array(value) and value.keys().isdisjoint(("items", "prefixItems")):
            value["items"], is_changed = {}, True
        for keyword, inner in value.items():
            if keyword in _MAPS and isinstance(inner, dict):
                pending += inner.values()
            elif keyword not in _VALUES:
                pending.append(inner)
    return is_changed


def _is_array(schema: Json) -> bool:
    kind = schema.get("type")
    return kind == "array" or (isinstance(kind, list) and "array" in kind)
