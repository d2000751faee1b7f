"""The keywords of schemas that have no schemas in them: which of them agents get, and how."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from engine.mcp.descriptions import plain_text
from engine.spec.document import patterns
from engine.spec.document.schema_keywords import SOURCE_PATTERN
from engine.values.trees import Json, TreePath, map_leaves

MAX_DESCRIPTION = 400
"""Characters of the description of an argument or of one of its members."""
_MAX_LITERAL = 200
"""Characters of the JSON of a default or of examples."""

_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_FORMATS = frozenset(
    {"date", "date-time", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"}
)
"""Formats of JSON Schema; Gemini's API refuses others in the schemas of some clients."""
_INTEGERS = (-(2**63), 2**64 - 1)
_HUGE = 10**308
_BOUNDS = frozenset(
    {"minimum", "maximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems"}
    | {"minProperties", "maxProperties", "minContains", "maxContains", "uniqueItems"}
    | {"exclusiveMinimum", "exclusiveMaximum"}
)


def _readable(path: TreePath, value: Any) -> Any:
    """A value that every client reads: an integer of more than 64 bits is a float."""
    if type(value) is not int or _INTEGERS[0] <= value <= _INTEGERS[1]:
        return value
    return float(min(max(value, -_HUGE), _HUGE))


def copy_keyword(schema: Json, key: str, value: Any) -> None:
    """Copy a keyword without schemas to `schema`, if agents need it."""
    if not isinstance(value, str):
        value = map_leaves(value, _readable)
    if key in _BOUNDS and isinstance(value, int | float):
        schema[key] = value
    elif key == "type":
        names = [name for name in (value if isinstance(value, list) else [value]) if name in _TYPES]
        if names:
            schema[key] = names[0] if len(names) == 1 else names
    elif key == "enum" and isinstance(value, list) and value:
        schema[key] = [*value]
    elif key == "const" or (key == "deprecated" and value is True):
        schema[key] = value
    elif key == "default":
        if len(json.dumps(value, default=str)) <= _MAX_LITERAL:
            schema[key] = value
    elif key == "example":
        if isinstance(value, str | int | float) and len(str(value)) <= _MAX_LITERAL // 2:
            schema["examples"] = [value]
    elif key == "examples" and isinstance(value, list):
        if value and len(json.dumps(value, default=str)) <= _MAX_LITERAL:
            schema[key] = value
    elif key == "description" and isinstance(value, str):
        if text := plain_text(value, MAX_DESCRIPTION):
            schema[key] = text
    elif key == "title" and isinstance(value, str) and value:
        schema[key] = plain_text(value, _MAX_LITERAL)
    elif key == "pattern" and isinstance(value, str):
        schema.setdefault(key, value)
    elif key == SOURCE_PATTERN and isinstance(value, str):
        schema["pattern"] = value
    elif key in ("format", "contentEncoding", "contentMediaType") and isinstance(value, str):
        schema[key] = value
    elif key == "dependentRequired" and isinstance(value, Mapping):
        schema[key] = dict(value)


def adapt_bounds(value: Mapping[str, Any], schema: Json) -> None:
    """Numbers as exclusive bounds, and patterns of ECMA-262."""
    for word, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(schema.get(word), bool):
            del schema[word]
            if value[word] and bound in schema:
                schema[word] = schema.pop(bound)
    if "pattern" in schema and not patterns.read(schema["pattern"]).is_standard:
        del schema["pattern"]


def adapt_format(schema: Json) -> None:
    """Leave out a format that JSON Schema does not have; `byte` of 3.0 is base64."""
    if schema.get("format") == "byte":
        schema["contentEncoding"] = "base64"
    if schema.get("format") not in _FORMATS:
        schema.pop("format", None)
