"""Relaxing a schema for `validate: lenient`: it still refuses errors, but not new features.

Closed objects become open; an enumeration of several values accepts any value of its type (one with
a single value is a tag and stays); `oneOf` becomes `anyOf`; optional members may be null; and
alternatives that only say which members must be present are dropped, as vendors add alternatives.

Vendors describe parts of a conversation as their responses have them; clients send them back with
members left out. So in a tagged object that is also in responses, a member is not required if its
absence has an obvious meaning: a default, null, an empty list, one of several choices.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path as FilePath
from typing import Any

from engine.spec.document.node import Library, Node
from engine.spec.document.path_items import operations_of
from engine.spec.document.schema_types import Resolve, types_of, types_of_value
from engine.values.trees import Json

EXACT = frozenset({"not", "if", "contains"})
"""Conditions. Their subschemas are never relaxed: that would make the whole schema stricter."""

_PRESENCE = frozenset({"type", "required", "not"})
"""The keywords of a schema that is only about the presence of members; `type` is `object`."""

_EXAMPLES = frozenset({"example", "examples", "default"})
_NOTES = frozenset({"title", "description", "$comment"})

_CLOSING = ("additionalProperties", "unevaluatedProperties")
_NULL = {"type": "null"}


def relax(schema: Json, optional: Collection[str] = ()) -> None:
    """Relax a schema in place, after its subschemas. `optional` members are not required."""
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
        required_names = set(required) if isinstance(required, list) else set()
        for name in properties.keys() - required_names:
            properties[name] = _or_null(properties[name])


def _drop_alternatives_of_presence(schema: Json) -> None:
    """Drop each `anyOf` and `oneOf` that only says which members must or must not be present, and a
    `not` that forbids several together: vendors write "exactly one of" with these."""
    for key in ("anyOf", "oneOf"):
        branches = schema.get(key)
        if isinstance(branches, list) and branches and all(map(_is_presence, branches)):
            del schema[key]
            if all("type" in branch for branch in branches):
                schema.setdefault("type", "object")
    if _forbids_together(schema.get("not")):
        del schema["not"]


def _is_presence(schema: object) -> bool:
    """Whether a schema only says which members of an object must or must not be present."""
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


def optional_members(schema: Json, resolve: Resolve) -> frozenset[str]:
    """The required members that requests may omit in an object that is also in responses.

    A tag always remains required. `resolve` follows references.
    """
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict) or not isinstance(required, list):
        return frozenset()
    members = {name: resolve(properties[name]) for name in required if name in properties}
    if not any(map(_is_tag, members.values())):
        return frozenset()
    return frozenset(name for name, member in members.items() if _may_be_absent(member, resolve))


def described_mappings(library: Library) -> frozenset[int]:
    """The `id()` of every mapping that is reachable from the `responses` of the operations."""
    visited: set[int] = set()
    references: set[tuple[FilePath, str]] = set()
    queue = [
        operation.get("responses")
        for _, item in library.document.get("paths").items()
        for _, operation in operations_of(item)
    ]
    while queue:
        node = queue.pop()
        stack: list[object] = [node.value]
        while stack:
            value = stack.pop()
            if isinstance(value, list):
                stack += [child for child in value if isinstance(child, dict | list)]
            elif isinstance(value, dict) and id(value) not in visited:
                visited.add(id(value))
                at = Node(library, node.uri, (), value)
                if at.ref is not None and (at.uri, at.ref) not in references:
                    references.add((at.uri, at.ref))
                    with suppress(KeyError):  # without a target it is a literal: see `load`
                        queue.append(at.resolved())
                stack += [
                    child
                    for name, child in value.items()
                    if isinstance(child, dict | list) and name not in _EXAMPLES
                ]
    return frozenset(visited)


def _is_tag(schema: object) -> bool:
    return isinstance(schema, dict) and ("const" in schema or _choices(schema) == 1)


def _may_be_absent(schema: object, resolve: Resolve) -> bool:
    if not isinstance(schema, dict) or _is_tag(schema):
        return False
    types = types_of(schema, resolve)
    return "any" not in types and (
        "default" in schema
        or "null" in types
        or _choices(schema) > 1
        or (types == {"array"} and not schema.get("minItems"))
    )


def _choices(schema: Json) -> int:
    """The number of values of an `enum`, without null; 0 without `enum`."""
    values = schema.get("enum")
    return sum(value is not None for value in values) if isinstance(values, list) else 0


def _or_null(schema: object) -> object:
    if not isinstance(schema, dict) or "not" in schema:
        return schema
    kind = schema.get("type")
    if isinstance(kind, str | list) and not schema.keys() & {"enum", "const", "allOf", "anyOf"}:
        schema["type"] = list(
            {"null": 0} | dict.fromkeys([kind] if isinstance(kind, str) else kind)
        )
        return schema
    return {"anyOf": [schema, _NULL]}
