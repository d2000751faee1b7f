"""Gemini's schemas, a subset of OpenAPI 3.0 with types in capitals -> JSON Schema."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from engine.translations.neutral.json_members import WrongType
from engine.values.trees import Json

_CAPITALS = ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
_COUNTS = ("maxItems", "minItems", "minProperties", "maxProperties", "minLength", "maxLength")
MAX_DEPTH = 64


def to_json_schema(schema: Raw, place: str) -> Raw:
    """The JSON Schema of a schema of Gemini's at `place`. Raises WrongType."""
    return encode_schema(_json_schema(decode_schema(schema, place), place, 0), place)


def _json_schema(schema: object, place: str, depth: int) -> object:
    if not isinstance(schema, dict):
        return schema
    if depth > MAX_DEPTH:
        raise too_deep(place)
    result: Json = {}
    for key, value in schema.items():
        if key == "type" and isinstance(value, str):
            result[key] = value.lower() if value in _CAPITALS else value
        elif key == "properties" and isinstance(value, dict):
            result[key] = {
                name: _json_schema(each, place, depth + 1) for name, each in value.items()
            }
        elif key == "items":
            result[key] = _json_schema(value, place, depth + 1)
        elif key == "anyOf" and isinstance(value, list):
            result[key] = [_json_schema(each, place, depth + 1) for each in value]
        elif key in _COUNTS and isinstance(value, str) and value.isdecimal():
            result[key] = Raw(value.encode()) if value.isascii() else value
        elif key == "example":
            result["examples"] = [value]
        elif key not in ("nullable", "propertyOrdering") and (key, value) != ("format", "enum"):
            result[key] = value
    if schema.get("nullable") is True:
        _allow_null(result)
    return result


def _allow_null(schema: Json) -> None:
    """Let null be a value, too, wherever a JSON Schema says what the values are."""
    if isinstance(schema.get("type"), str):
        schema["type"] = [schema["type"], "null"]
    if isinstance(schema.get("anyOf"), list):
        schema["anyOf"] = [*schema["anyOf"], {"type": "null"}]
    if isinstance(schema.get("enum"), list):
        schema["enum"] = [*schema["enum"], None]


def decode_schema(schema: Raw, place: str) -> object:
    try:
        return msgspec.json.decode(schema)
    except RecursionError as error:
        raise too_deep(place) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise WrongType(place, "a JSON Schema") from error


def encode_schema(schema: object, place: str) -> Raw:
    """The JSON text of a schema. Raises WrongType for one that is too deep."""
    try:
        return Raw(msgspec.json.encode(schema))
    except RecursionError as error:
        raise too_deep(place) from error


def too_deep(place: str) -> WrongType:
    return WrongType(place, f"a schema of at most {MAX_DEPTH} levels")
