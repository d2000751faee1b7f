"""Whether OpenAI's models can be held to a JSON Schema (`strict: true`): every object is closed and
requires all of its properties, and some keywords are not taken.

Source: the vendor's guide "Structured outputs", section "Supported schemas", November 2026.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from msgspec import Raw
from msgspec.json import Decoder

from engine.translations.neutral.members import value_of

_NOT_TAKEN = frozenset(
    (
        *("allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"),
        *("patternProperties", "unevaluatedProperties", "propertyNames", "contains"),
    )
)
_SAY_TYPE = frozenset(("type", "anyOf", "$ref", "enum", "const"))
_DOCUMENT = Decoder(dict[str, Any])
_MAPS = ("properties", "$defs", "definitions")
_LARGEST_CACHED = 20_000


def is_strict(schema: Raw | None) -> bool:
    """Whether a model can be held to a schema; None is that of a tool without arguments."""
    if schema is None:
        return False
    text = bytes(schema)
    return _cached(text) if len(text) <= _LARGEST_CACHED else _is_strict(text)


def _is_strict(text: bytes) -> bool:
    document = value_of(_DOCUMENT, text)
    if document is None or document.get("type") != "object":
        return False
    pending: list[Any] = [document]
    while pending:
        each = pending.pop()
        if not isinstance(each, dict) or not _takes(each):
            return False
        pending += _inside(each)
    return True


_cached = lru_cache(maxsize=256)(_is_strict)
"""Agents declare the same tools with every request."""


def _takes(schema: dict[str, Any]) -> bool:
    """Whether a schema is taken, but for those in it."""
    if schema.keys() & _NOT_TAKEN or not schema.keys() & _SAY_TYPE:
        return False
    properties, required = schema.get("properties"), schema.get("required", [])
    if properties is None and "object" not in _types(schema):
        return True
    if schema.get("additionalProperties", True) is not False:
        return False
    names = properties if isinstance(properties, dict) else {}
    return isinstance(required, list) and names.keys() <= {
        o for o in required if isinstance(o, str)
    }


def _types(schema: dict[str, Any]) -> list[Any]:
    types = schema.get("type")
    return types if isinstance(types, list) else [types]


def _inside(schema: dict[str, Any]) -> Iterator[Any]:
    for name in _MAPS:
        if name in schema:
            yield from schema[name].values() if isinstance(schema[name], dict) else (None,)
    if "anyOf" in schema:
        yield from schema["anyOf"] if isinstance(schema["anyOf"], list) else (None,)
    if "items" in schema:
        yield schema["items"]
