"""What `validate: lenient` makes of a schema: it refuses what cannot be right, not what is new.

Closed objects are open; an enumeration of several values takes any value of its type (one of a
single value is a tag, and stays); `oneOf` is `anyOf`; what may be absent may be null; alternatives
that only say which members stand together refuse nothing, for vendors add alternatives.

Vendors describe parts of a conversation once, as they answer them, and clients send them back with
less in them. So where a tagged object is part of answers too, a member that has an obvious value
when it is absent is not required: a default, null, an empty list, one of several choices.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path as FilePath
from typing import Any

from engine.spec.document.node import METHODS, Library, Node
from engine.spec.schema_types import Resolve, types_of, types_of_value

EXACT = frozenset({"not", "if", "contains"})
"""Conditions: what is below them is never relaxed, which would refuse more."""

_PRESENCE = frozenset({"type", "required", "not"})
"""What a schema may say that is only about the presence of members; `type` as `object`."""

_EXAMPLES = frozenset({"example", "examples", "default"})
_NOTES = frozenset({"title", "description", "$comment"})

_CLOSING = ("additionalProperties", "unevaluatedProperties")
_NULL = {"type": "null"}


def relax(schema: dict[str, Any], optional: Collection[str] = ()) -> None:
    """Open one schema in place, after those below it. `optional` members are not required."""
    if optional and isinstance(schema.get("required"), list):
        schema["required"] = [name for name in schema["required"] if name not in optional]
    for key in _CLOSING:
        if schema.get(key) is False:
            del schema[key]
    if _choices(schema) > 1:
        values = schema.pop("enum")
        if "type" not in schema:
            schema["type"] = sorted(
                frozenset[str]().union(*map(types_of_value, values)) - {"integer"}
            )
    _drop_alternatives_of_presence(schema)
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


def _drop_alternatives_of_presence(schema: dict[str, Any]) -> None:
    """Drop each `anyOf` and `oneOf` that only says which members must or must not stand together,
    and a `not` that only says which must not, as vendors write "exactly one of"."""
    for key in ("anyOf", "oneOf"):
        branches = schema.get(key)
        if isinstance(branches, list) and branches and all(map(_is_presence, branches)):
            del schema[key]
            if all("type" in branch for branch in branches):
                schema.setdefault("type", "object")
    if _forbids_together(schema.get("not")):
        del schema["not"]


def _is_presence(schema: Any) -> bool:
    """Whether a schema says of an object only which members must or must not be present."""
    return (
        isinstance(schema, dict)
        and schema.get("type", "object") == "object"
        and all(key in _PRESENCE | _NOTES or key.startswith("x-") for key in schema)
        and bool(schema.keys() & {"required", "not"})
        and ("not" not in schema or _is_presence(schema["not"]))
    )


def _forbids_together(schema: Any) -> bool:
    required = schema.get("required") if _is_presence(schema) else None
    return isinstance(required, list) and len(required) > 1


def optional_members(schema: dict[str, Any], resolve: Resolve) -> frozenset[str]:
    """The required members that a request may leave out of an object that answers hold too.

    There is always a tag left that is required. `resolve` follows references.
    """
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict) or not isinstance(required, list):
        return frozenset()
    members = {name: resolve(properties[name]) for name in required if name in properties}
    if not any(map(_is_tag, members.values())):
        return frozenset()
    return frozenset(name for name, member in members.items() if _may_be_absent(member, resolve))


def described_mappings(library: Library) -> frozenset[int]:
    """The ids of all mappings that the `responses` of a library's operations reach."""
    visited: set[int] = set()
    references: set[tuple[FilePath, str]] = set()
    waiting = [
        item.get(method).get("responses")
        for _, item in library.document.get("paths").items()
        for method in METHODS
    ]
    while waiting:
        node = waiting.pop()
        stack: list[Any] = [node.value]
        while stack:
            value = stack.pop()
            if isinstance(value, list):
                stack += [below for below in value if isinstance(below, dict | list)]
            elif isinstance(value, dict) and id(value) not in visited:
                visited.add(id(value))
                at = Node(library, node.uri, (), value)
                if at.ref is not None and (at.uri, at.ref) not in references:
                    references.add((at.uri, at.ref))
                    waiting.append(at.resolved())
                stack += [
                    below
                    for name, below in value.items()
                    if isinstance(below, dict | list) and name not in _EXAMPLES
                ]
    return frozenset(visited)


def _is_tag(schema: Any) -> bool:
    return isinstance(schema, dict) and ("const" in schema or _choices(schema) == 1)


def _may_be_absent(schema: Any, resolve: Resolve) -> bool:
    if not isinstance(schema, dict) or _is_tag(schema):
        return False
    types = types_of(schema, resolve)
    return "any" not in types and (
        "default" in schema
        or "null" in types
        or _choices(schema) > 1
        or (types == {"array"} and not schema.get("minItems"))
    )


def _choices(schema: dict[str, Any]) -> int:
    """How many values an `enum` leaves, null aside; 0 where there is none."""
    values = schema.get("enum")
    return sum(value is not None for value in values) if isinstance(values, list) else 0


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
