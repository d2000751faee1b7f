"""Schemas that allow null with one keyword and refuse it with another.

In 3.1, `nullable: true` has no meaning: it is of 3.0. In 3.0 it only affects a `type` beside it: an
`enum` without null, a `$ref`, `allOf`, `anyOf` or `oneOf` still refuse null.
"""

from __future__ import annotations

from engine.spec.document.repairs import Schema, SchemaRepair, Turn
from engine.spec.document.schema_types import types_of
from engine.values.trees import Json

_ABOUT = frozenset({"title", "description", "default", "readOnly", "writeOnly", "deprecated"})
_COMBINED = ("allOf", "$ref", "anyOf", "oneOf")
_NARROWING = frozenset({*_COMBINED, "not", "enum", "const", "type"})


def _repair(schema: Schema) -> None:
    """Allow null if a keyword allows it; `nullable: false` in 3.1 has no effect."""
    if "nullable" not in schema.value:
        _repair_enum(schema, "type", 'type: [..., "null"]')
    elif not isinstance(schema.value["nullable"], bool):
        return
    elif schema.is_30:
        if schema.value["nullable"]:
            _repair_30(schema)
    else:
        _repair_31(schema)


def _repair_30(schema: Schema) -> None:
    value = schema.value
    _repair_enum(schema, "nullable", "nullable: true")
    keyword = next((key for key in _COMBINED if key in value), None)
    if keyword is None:
        return
    if "null" not in types_of(_without(value, "nullable"), schema.node.follow):
        message = f"'nullable: true' beside '{keyword}', which refuses null; null is allowed here"
        schema.warn("nullable", "MW240", message, "write anyOf: [..., {enum: [null]}]")
        del value["nullable"]
        _add_null_branch(value, {"enum": [None]})
    elif "$ref" in value:
        del value["nullable"]  # the referenced schema allows null itself


def _repair_31(schema: Schema) -> None:
    message = "'nullable' is of OpenAPI 3.0; null is allowed here"
    if not schema.value.pop("nullable"):
        message = "'nullable' is of OpenAPI 3.0 and has no meaning here"
    else:
        _allow_null(schema)
    schema.warn("nullable", "MW224", message, 'write type: [string, "null"]')


def _repair_enum(schema: Schema, key: str, keywords: str) -> None:
    """Add null to an `enum` without it if the keyword `key` allows null."""
    value = schema.value
    values, kind = value.get("enum"), value.get("type")
    if not isinstance(values, list) or None in values:
        return
    if key == "nullable" or (isinstance(kind, list) and "null" in kind):
        value["enum"] = [*values, None]
        message = f"'{keywords}' beside an 'enum' without null; null is allowed here"
        schema.warn("enum", "MW240", message, "add null to the enum")


def _allow_null(schema: Schema) -> None:
    value = schema.value
    kind, plain = value.get("type"), not any(k in value for k in ("allOf", "$ref", "not", "const"))
    null = {"type": "null"}
    if isinstance(kind, str | list) and plain and not ("anyOf" in value or "oneOf" in value):
        value["type"] = list(dict.fromkeys([*([kind] if isinstance(kind, str) else kind), "null"]))
        if isinstance(value.get("enum"), list) and None not in value["enum"]:
            value["enum"] = [*value["enum"], None]
    elif kind is None and plain and isinstance(value.get("anyOf"), list) and "enum" not in value:
        value["anyOf"] = [*value["anyOf"], null]
    elif kind is None and plain and isinstance(value.get("oneOf"), list) and "enum" not in value:
        if "null" not in types_of({"oneOf": value["oneOf"]}, schema.node.follow):
            value["oneOf"] = [*value["oneOf"], null]
    elif value.keys() & _NARROWING:
        _add_null_branch(value, null)


def _add_null_branch(value: Json, null: Json) -> None:
    """Move the schema's constraints into one of two branches; annotations stay."""
    inner = {key: constraint for key, constraint in value.items() if key not in _ABOUT}
    for key in inner:
        del value[key]
    value["anyOf"] = [inner, null]


def _without(value: Json, key: str) -> Json:
    return {name: member for name, member in value.items() if name != key}


REPAIR = SchemaRepair(frozenset({"nullable", "enum"}), _repair, turn=Turn.MOVES)
