"""What `validate: lenient` makes of a schema: it refuses what cannot be right, not what is new.

Closed objects are open; an enumeration of several values takes any value of its type (one of a
single value is a tag, and stays); `oneOf` is `anyOf`; what may be absent may be null.
"""

from __future__ import annotations

from typing import Any

_CLOSING = ("additionalProperties", "unevaluatedProperties")
_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "boolean"),
    (str, "string"),
    ((int, float), "number"),
)
_NULL = {"type": "null"}


def relax(schema: dict[str, Any]) -> None:
    """Open one schema in place, after those below it."""
    for key in _CLOSING:
        if schema.get(key) is False:
            del schema[key]
    if isinstance(schema.get("enum"), list) and len(schema["enum"]) > 1:
        values = schema.pop("enum")
        if "type" not in schema:
            schema["type"] = sorted({_kind(value) for value in values})
    if isinstance(schema.get("oneOf"), list):
        branches = {"anyOf": schema.pop("oneOf")}
        if "anyOf" in schema:
            schema["allOf"] = [*schema.get("allOf", ()), branches]
        else:
            schema.update(branches)
    properties = schema.get("properties")
    if isinstance(properties, dict):
        required = schema.get("required")
        needed = set(required) if isinstance(required, list) else set()
        for name in properties.keys() - needed:
            properties[name] = _or_null(properties[name])


def _or_null(schema: Any) -> Any:
    if not isinstance(schema, dict) or "not" in schema:
        return schema
    kind = schema.get("type")
    if isinstance(kind, str | list) and not schema.keys() & {"enum", "const", "allOf", "anyOf"}:
        schema["type"] = list(
            {"null": 0} | dict.fromkeys([kind] if isinstance(kind, str) else kind)
        )
        return schema
    return {"anyOf": [schema, _NULL]}


def _kind(value: Any) -> str:
    for types, name in _KINDS:
        if isinstance(value, types):
            return name
    return "null" if value is None else "array" if isinstance(value, list) else "object"
