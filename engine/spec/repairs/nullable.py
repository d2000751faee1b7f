"""`nullable: true` of 3.0 in a 3.1 document, where JSON Schema does not know it."""

from __future__ import annotations

from typing import Any

from engine.spec.casting import types_of
from engine.spec.library import Node
from engine.spec.repairs import Schema

KEYS = frozenset({"nullable"})
_ABOUT = frozenset({"title", "description", "default", "readOnly", "writeOnly", "deprecated"})
_TELLING = frozenset({"allOf", "anyOf", "oneOf", "not", "$ref", "enum", "const", "type"})
_NULL = {"type": "null"}


def mend(schema: Schema) -> None:
    """Allow null as 3.1 says it; `nullable: false` says nothing."""
    if schema.is_30 or not isinstance(schema.value["nullable"], bool):
        return
    message = "'nullable' is of OpenAPI 3.0; null is allowed here all the same"
    if not schema.value.pop("nullable"):
        message = "'nullable' is of OpenAPI 3.0 and has no meaning here"
    else:
        _allow_null(schema)
    schema.warn("nullable", "MW224", message, 'write type: [string, "null"]')


def _allow_null(schema: Schema) -> None:
    value = schema.value
    kind, plain = value.get("type"), not any(k in value for k in ("allOf", "$ref", "not", "const"))
    if isinstance(kind, str | list) and plain and not ("anyOf" in value or "oneOf" in value):
        value["type"] = list(dict.fromkeys([*([kind] if isinstance(kind, str) else kind), "null"]))
        if isinstance(value.get("enum"), list) and None not in value["enum"]:
            value["enum"] = [*value["enum"], None]
    elif kind is None and plain and isinstance(value.get("anyOf"), list) and "enum" not in value:
        value["anyOf"] = [*value["anyOf"], dict(_NULL)]
    elif kind is None and plain and isinstance(value.get("oneOf"), list) and "enum" not in value:
        if "null" not in types_of({"oneOf": value["oneOf"]}, _resolver(schema.node)):
            value["oneOf"] = [*value["oneOf"], dict(_NULL)]
    elif value.keys() & _TELLING:
        inner = {key: below for key, below in value.items() if key not in _ABOUT}
        for key in inner:
            del value[key]
        value["anyOf"] = [inner, dict(_NULL)]


def _resolver(node: Node) -> Any:
    def follow(schema: Any) -> Any:
        if isinstance(schema, dict) and isinstance(schema.get("$ref"), str):
            return Node(node.library, node.uri, node.path, schema).resolved().value
        return schema

    return follow
