"""The schemas of tools' arguments as OpenAI takes them, and those that its models can be held to
(`strict: true`).

The vendor refuses a function whose schema is not an object with `properties`, and any array without
`items`; Anthropic and Gemini take both, and servers of tools declare them. Strict ones: its guide
"Structured outputs", section "Supported schemas", November 2026.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Raw
from msgspec.json import Decoder

from engine.translations.neutral.argument_schemas import ALTERNATIVES, arguments_schema
from engine.translations.neutral.json_members import OBJECT, TextCache, value_of
from engine.translations.neutral.request import Tool
from engine.values.trees import Json

_VALUES = frozenset(("const", "default", "enum", "example", "examples"))
_MAPS = frozenset(("properties", "patternProperties", "dependentSchemas", "$defs", "definitions"))
"""Keywords whose values are schemas by any names, which may be those of keywords."""

_OBJECT, _EMPTY = Raw(b'"object"'), Raw(b"{}")
_DOCUMENT = Decoder(Json)


def write_parameters(tool: Tool) -> Raw | None:
    """The schema of a tool's arguments, None for none. Raises WrongType."""
    schema = arguments_schema(tool)
    return None if schema is None else _PARAMETERS[bytes(schema)]


def _parameters(text: bytes) -> Raw:
    members = OBJECT.decode(text)
    if members["type"] == _OBJECT and "properties" not in members:
        text = msgspec.json.encode({"type": _OBJECT, "properties": _EMPTY, **members})
    if b'"array"' in text:
        schema = msgspec.json.decode(text)
        if _complete(schema):
            text = msgspec.json.encode(schema)
    return Raw(text)


_PARAMETERS = TextCache(_parameters)


def _complete(schema: object) -> bool:
    """Let all arrays in a schema have `items`. Returns whether one had none."""
    is_changed = False
    pending = [schema]
    while pending:
        value = pending.pop()
        if isinstance(value, list):
            pending += value
        if not isinstance(value, dict):
            continue
        kind = value.get("type")
        is_array = kind == "array" or (isinstance(kind, list) and "array" in kind)
        if is_array and value.keys().isdisjoint(("items", "prefixItems")):
            value["items"], is_changed = {}, True
        for keyword, inner in value.items():
            if keyword in _MAPS and isinstance(inner, dict):
                pending += inner.values()
            elif keyword not in _VALUES:
                pending.append(inner)
    return is_changed


_NOT_TAKEN = {
    *("allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"),
    *("patternProperties", "unevaluatedProperties", "propertyNames", "contains"),
}
_SAY_TYPE = frozenset(("type", "anyOf", "$ref", "enum", "const"))
_STRICT_MAPS = ("properties", "$defs", "definitions")


def is_strict(schema: Raw | None) -> bool:
    """Whether a model can be held to a schema; None is that of a tool without arguments."""
    return schema is not None and _STRICT[bytes(schema)]


def _is_strict(text: bytes) -> bool:
    document = value_of(_DOCUMENT, text)
    if document is None or document.get("type") != "object" or document.keys() & ALTERNATIVES:
        return False
    pending: list[object] = [document]
    while pending:
        each = pending.pop()
        if not isinstance(each, dict) or not _is_taken(each):
            return False
        pending += _inside(each)
    return True


_STRICT = TextCache(_is_strict)


def _is_taken(schema: Json) -> bool:
    """Whether a schema is taken, but for those in it."""
    if schema.keys() & _NOT_TAKEN or not schema.keys() & _SAY_TYPE:
        return False
    properties, required = schema.get("properties"), schema.get("required", [])
    types = schema.get("type")
    if properties is None and "object" not in (types if isinstance(types, list) else [types]):
        return True
    if schema.get("additionalProperties", True) is not False:
        return False
    names = properties if isinstance(properties, dict) else {}
    return isinstance(required, list) and names.keys() <= {
        o for o in required if isinstance(o, str)
    }


def _inside(schema: Json) -> Iterator[object]:
    for name in _STRICT_MAPS:
        if name in schema:
            yield from schema[name].values() if isinstance(schema[name], dict) else (None,)
    if "anyOf" in schema:
        yield from schema["anyOf"] if isinstance(schema["anyOf"], list) else (None,)
    if "items" in schema:
        yield schema["items"]
