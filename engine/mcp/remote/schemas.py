"""Schemas that another MCP server lists, without what clients and model vendors refuse.

A client that cannot read one keyword of one tool loses the whole list, and so do all callers: a
keyword whose value JSON Schema 2020-12 does not allow is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.mcp.descriptions import plain_text

_MAX_TEXT = 400
_DROPPED = frozenset({"$schema", "$id", "id", "x-mcp-header"})
_VALUES = frozenset({"const", "default", "examples", "example"})
_SCHEMAS_BY_NAME = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)
_SCHEMA_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_SCHEMAS = frozenset(
    {"items", "additionalProperties", "additionalItems", "contains", "contentSchema", "not"}
    | {"if", "then", "else", "propertyNames", "unevaluatedItems", "unevaluatedProperties"}
)
_REFERENCES = frozenset({"$ref", "$dynamicRef"})
_TEXTS = frozenset(
    {"format", "pattern", "contentEncoding", "contentMediaType", "$anchor", "$dynamicAnchor"}
    | {"$comment"}
)
_NUMBERS = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
    | {"minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains"}
    | {"minProperties", "maxProperties"}
)
_FLAGS = frozenset({"uniqueItems", "deprecated", "readOnly", "writeOnly", "nullable"})
_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})


def object_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of an object, cleaned."""
    return {"type": "object", **_clean(schema)}


def _clean(schema: Mapping[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _VALUES:
            result[key] = value
        elif key not in _DROPPED and (cleaned := _keyword(key, value)) is not None:
            result[key] = cleaned
    return result


def _keyword(key: str, value: Any) -> Any:
    """The value of a keyword, None for one that is left out."""
    if key in _SCHEMAS_BY_NAME:
        return _schemas_by_name(value) if isinstance(value, dict) else None
    if key in _SCHEMA_LISTS:
        return _schema_list(value)
    if key in _SCHEMAS:
        is_tuple = key == "items" and isinstance(value, list)
        return _schema_list(value) if is_tuple else _schema(value)
    if key in ("description", "title"):
        return plain_text(value, _MAX_TEXT) if isinstance(value, str) else None
    if key in _REFERENCES:
        return value if isinstance(value, str) and value.startswith("#") else None
    if key in ("type", "required", "enum"):
        return _list_keyword(key, value)
    if key in _TEXTS:
        return value if isinstance(value, str) else None
    if key in _NUMBERS:
        return value if type(value) in (int, float) else None
    if key in _FLAGS:
        return value if isinstance(value, bool) else None
    if isinstance(value, list):
        return [_clean(each) if isinstance(each, dict) else each for each in value]
    return _clean(value) if isinstance(value, dict) else value


def _schemas_by_name(value: Mapping[str, Any]) -> dict[str, Any]:
    """Schemas by their names. Clients refuse booleans there."""
    return {
        name: {} if each is True else {"not": {}} if each is False else _clean(each)
        for name, each in value.items()
        if isinstance(each, bool | dict)
    }


def _schema(value: Any) -> Any:
    if isinstance(value, dict):
        return _clean(value)
    return value if isinstance(value, bool) else None


def _schema_list(value: Any) -> list[Any] | None:
    """A list of schemas, which is not empty."""
    items = [_schema(each) for each in value] if isinstance(value, list) else []
    return [each for each in items if each is not None] or None


def _list_keyword(key: str, value: Any) -> Any:
    """The value of a keyword that is a list, or may be one."""
    if key == "enum":
        return value if isinstance(value, list) and value else None
    if key == "type" and isinstance(value, str):
        return value if value in _TYPES else None
    texts = [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
    if key == "type":
        texts = [each for each in texts if each in _TYPES]
    return [*dict.fromkeys(texts)] or None
