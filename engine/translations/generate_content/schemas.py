"""Gemini's schemas, a subset of OpenAPI 3.0 with types in capitals, and JSON Schema."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

Json = dict[str, Any]

_CAPITALS = ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
_KNOWN = frozenset(
    (
        *("type", "format", "title", "description", "nullable", "enum", "items", "maxItems"),
        *("minItems", "properties", "required", "minProperties", "maxProperties", "minimum"),
        *("maximum", "minLength", "maxLength", "pattern", "anyOf", "propertyOrdering", "default"),
    )
)
_FORMATS = frozenset(("enum", "date-time", "int32", "int64", "float", "double", "byte"))
_COUNTS = ("maxItems", "minItems", "minProperties", "maxProperties", "minLength", "maxLength")
_DEEPEST = 64


def to_json_schema(schema: Raw) -> Raw:
    """The JSON Schema of a schema of Gemini's."""
    return Raw(msgspec.json.encode(_json_schema(msgspec.json.decode(schema), 0)))


def _json_schema(schema: Any, depth: int) -> Any:
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return schema
    result: Json = {}
    for key, value in schema.items():
        if key == "type" and isinstance(value, str):
            result[key] = value.lower() if value in _CAPITALS else value
        elif key == "properties" and isinstance(value, dict):
            result[key] = {name: _json_schema(each, depth + 1) for name, each in value.items()}
        elif key == "items":
            result[key] = _json_schema(value, depth + 1)
        elif key == "anyOf" and isinstance(value, list):
            result[key] = [_json_schema(each, depth + 1) for each in value]
        elif key in _COUNTS and isinstance(value, str) and value.isdigit():
            result[key] = int(value)
        elif key not in ("nullable", "propertyOrdering"):
            result["examples" if key == "example" else key] = [value] if key == "example" else value
    if schema.get("nullable") is True and isinstance(result.get("type"), str):
        result["type"] = [result["type"], "null"]
    return result


def from_json_schema(schema: Raw) -> Raw:
    """A JSON Schema in Gemini's subset: what the subset cannot say is left out, so that it accepts
    no less. References into `$defs` are written out; one inside itself becomes any object."""
    document = msgspec.json.decode(schema)
    return Raw(msgspec.json.encode(_subset(document, document, ())))


def _subset(schema: Any, document: Any, inside: tuple[str, ...]) -> Any:
    if not isinstance(schema, dict) or len(inside) > _DEEPEST:
        return {"type": "OBJECT"}
    reference = schema.get("$ref")
    if isinstance(reference, str):
        if reference in inside:
            return {"type": "OBJECT"}
        return _subset(_resolved(reference, document), document, (*inside, reference))
    result: Json = {}
    for key, value in schema.items():
        _write_keyword(key, value, result, document, inside)
    return result


def _write_keyword(
    key: str, value: Any, result: Json, document: Any, inside: tuple[str, ...]
) -> None:
    if key == "type":
        _write_type(value, result)
    elif key == "const":
        result["enum"] = [str(value)]
    elif key == "enum":
        result[key] = [str(each) for each in value if each is not None]
    elif key == "properties" and isinstance(value, dict):
        result[key] = {name: _subset(each, document, inside) for name, each in value.items()}
    elif key == "items":
        result[key] = _subset(value, document, inside)
    elif key in ("anyOf", "oneOf") and isinstance(value, list):
        result["anyOf"] = [_subset(each, document, inside) for each in value]
    elif key == "format":
        if value in _FORMATS:
            result[key] = value
    elif key in _KNOWN:
        result[key] = value


def _write_type(value: Any, result: Json) -> None:
    types = value if isinstance(value, list) else [value]
    names = [str(each).upper() for each in types if each != "null"]
    if "null" in types and names:
        result["nullable"] = True
    if len(names) == 1 or not names:
        result["type"] = names[0] if names else "NULL"
    else:
        result["anyOf"] = [{"type": name} for name in names]


def _resolved(reference: str, document: Any) -> Any:
    for step in reference.removeprefix("#/").split("/"):
        step = step.replace("~1", "/").replace("~0", "~")
        document = document.get(step) if isinstance(document, dict) else None
    return document
