"""Gemini's schemas, a subset of OpenAPI 3.0 with types in capitals, and JSON Schema."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from engine.translations.neutral.members import WrongType

Json = dict[str, Any]

_CAPITALS = ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
_KNOWN = frozenset(
    (
        *("title", "description", "nullable", "maxItems", "minItems", "minProperties"),
        *("maxProperties", "minimum", "maximum", "minLength", "maxLength", "pattern"),
        *("propertyOrdering", "default"),
    )
)
_FORMATS = ("enum", "date-time", "int32", "int64", "float", "double", "byte")
_COUNTS = ("maxItems", "minItems", "minProperties", "maxProperties", "minLength", "maxLength")
_ABOUT = ("title", "description", "default", "nullable")
"""Keywords that may stand beside a reference."""
_NULL = {"type": "null"}
_DEEPEST = 64
"""Levels of schemas inside schemas."""

_ROOM, _BYTES = 20_000, 4
"""How many schemas the schemas of a request may become: so many, and one for so many bytes."""


def to_json_schema(schema: Raw, place: str) -> Raw:
    """The JSON Schema of a schema of Gemini's at `place`. Raises WrongType."""
    return _encode(_json_schema(_decode(schema, place), place, 0), place)


def _json_schema(schema: Any, place: str, depth: int) -> Any:
    if not isinstance(schema, dict):
        return schema
    if depth > _DEEPEST:
        raise _too_deep(place)
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


class SubsetWriter:
    """Writes the JSON Schemas of one request in Gemini's subset.

    What the subset cannot say is left out, so that it accepts no less. References into `$defs` are
    written out; one inside itself becomes any object. What all of them become is bounded.
    """

    def __init__(self) -> None:
        self._room = _ROOM
        self._document: Any = None
        self._place = ""

    def write(self, schema: Raw, place: str) -> Raw:
        """The schema at `place`. Raises WrongType, also where it is too deep or becomes too
        large."""
        text = bytes(schema)
        self._document, self._place = _decode(schema, place), place
        self._room += len(text) // _BYTES
        return _encode(self._subset(self._document, (), 0), place)

    def _subset(self, schema: Any, inside: tuple[str, ...], depth: int) -> Json:
        """One schema; `inside` are the references that led to it."""
        self._room -= 1
        if self._room < 0:
            raise WrongType(self._place, "a schema that is small where references are written out")
        if depth > _DEEPEST:
            raise _too_deep(self._place)
        if not isinstance(schema, dict):
            return {"type": "OBJECT"}
        reference = schema.get("$ref")
        if isinstance(reference, str):
            if reference in inside:
                return {"type": "OBJECT"}
            target = _resolved(reference, self._document)
            result = self._subset(target, (*inside, reference), depth + 1)
            schema = {key: schema[key] for key in _ABOUT if key in schema}
        else:
            result = {}
        for key, value in schema.items():
            self._keyword(key, value, result, inside, depth + 1)
        return result

    def _keyword(
        self, key: str, value: Any, result: Json, inside: tuple[str, ...], depth: int
    ) -> None:
        if key == "type":
            self._type(value, result)
        elif key in ("const", "enum"):
            self._enum([value] if key == "const" else self._list(key, value), result)
        elif key == "required":
            result[key] = self._list(key, value)
        elif key == "properties":
            if not isinstance(value, dict):
                raise self._wrong(key, "an object")
            result[key] = {name: self._subset(each, inside, depth) for name, each in value.items()}
        elif key == "items":
            result[key] = self._subset(value, inside, depth)
        elif key in ("anyOf", "oneOf", "allOf"):
            self._alternatives(key, self._list(key, value), result, inside, depth)
        elif key == "format":
            if value in _FORMATS:
                result[key] = value
        elif key in _KNOWN:
            result[key] = value

    def _type(self, value: Any, result: Json) -> None:
        types = value if isinstance(value, list) else [value]
        if not all(isinstance(each, str) for each in types):
            raise self._wrong("type", "a word or a list of words")
        names = [each.upper() for each in types if each != "null"]
        if "null" in types and names:
            result["nullable"] = True
        if len(names) == 1 or not names:
            result["type"] = names[0] if names else "NULL"
        else:
            result["anyOf"] = [{"type": name} for name in names]

    def _enum(self, values: list[Any], result: Json) -> None:
        """The values that are allowed, which the subset has for strings only."""
        if None in values:
            result["nullable"] = True
        values = [each for each in values if each is not None]
        if values and all(isinstance(each, str) for each in values):
            result.setdefault("type", "STRING")
            result["enum"] = values

    def _alternatives(
        self, key: str, schemas: list[Any], result: Json, inside: tuple[str, ...], depth: int
    ) -> None:
        """Schemas of which a value has one. Null is no alternative but a keyword; one that is left
        alone is the schema itself. What a value has all of (`allOf`) has no form but for one."""
        others = [each for each in schemas if each != _NULL]
        if key != "allOf" and len(others) < len(schemas):
            result["nullable"] = True
        if len(others) == 1:
            result.update({**self._subset(others[0], inside, depth), **result})
        elif others and key != "allOf":
            result["anyOf"] = [self._subset(each, inside, depth) for each in others]

    def _list(self, key: str, value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise self._wrong(key, "a list")
        return value

    def _wrong(self, key: str, expected: str) -> WrongType:
        return WrongType(self._place, f"a JSON Schema in which '{key}' is {expected}")


def _resolved(reference: str, document: Any) -> Any:
    for step in reference.removeprefix("#/").split("/"):
        step = step.replace("~1", "/").replace("~0", "~")
        document = document.get(step) if isinstance(document, dict) else None
    return document


def _decode(schema: Raw, place: str) -> Any:
    try:
        return msgspec.json.decode(schema)
    except RecursionError as error:
        raise _too_deep(place) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise WrongType(place, "a JSON Schema") from error


def _encode(schema: Any, place: str) -> Raw:
    try:
        return Raw(msgspec.json.encode(schema))
    except RecursionError as error:
        raise _too_deep(place) from error


def _too_deep(place: str) -> WrongType:
    return WrongType(place, f"a schema of at most {_DEEPEST} levels")
