"""The keywords of one schema, without those of its subschemas, as values that can be compared."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from engine.spec.document.node import Node
from engine.spec.schemas.json_schema_files import CHECKED_FORMATS, INTEGER_BOUNDS
from engine.values.trees import Json, is_number

_MAX_JSON_DEPTH = 8
_ANY_TEXT = ("", ".*", "^.*$", "^.*", ".*$")
"""Patterns that say nothing, but for line ends."""
_ABOUT = ("title", "description", "$comment")
_WITHOUT_CONTAINS = {"minContains": None, "maxContains": None}
BOUNDS = {
    "minLength": ("string", 1),
    "minimum": ("number", 1),
    "exclusiveMinimum": ("number", 1),
    "minItems": ("array", 1),
    "minContains": ("array", 1),
    "minProperties": ("object", 1),
    "maxLength": ("string", -1),
    "maximum": ("number", -1),
    "exclusiveMaximum": ("number", -1),
    "maxItems": ("array", -1),
    "maxContains": ("array", -1),
    "maxProperties": ("object", -1),
}
"""Keywords that narrow a schema when their value grows (1) or shrinks (-1), with the type of the
values that they bound."""

TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


class Bound(NamedTuple):
    """A bound of a number, a length or a count. The value itself is outside if `exclusive`."""

    value: Any
    exclusive: bool = False

    def __str__(self) -> str:
        return f"{self.value}{' (exclusive)' if self.exclusive else ''}"


def target_of(node: Node) -> tuple[Node, Json]:
    """The schema that a node is or refers to, and the keywords beside its `$ref`, which OpenAPI 3.1
    applies as well."""
    if node.ref is None:
        return node, {}
    beside = {key: value for key, value in node.value.items() if key != "$ref"}
    return node.resolved(), beside if beside and not node.library.is_30 else {}


def is_narrower(key: str, bound: Bound, other: Bound) -> bool:
    """Whether a bound leaves fewer values than another one of the same keyword."""
    distance = (bound.value - other.value) * BOUNDS[key][1]
    return bool(distance > 0 or (distance == 0 and bound.exclusive and not other.exclusive))


def bounds_of(schema: Json) -> dict[str, Bound]:
    """The bounds, an exclusive one under the name of the inclusive one. Those that every value
    meets are left out."""
    bounds: dict[str, Bound] = {}
    of_format = INTEGER_BOUNDS.get(str(schema.get("format")))
    if of_format is not None:
        bounds = {"minimum": Bound(of_format[0]), "maximum": Bound(of_format[1])}
    schema = {**schema, **({} if "contains" in schema else _WITHOUT_CONTAINS)}
    if "contains" in schema:
        schema.setdefault("minContains", 1)
    for key, (kind, sign) in BOUNDS.items():
        value: Any = schema.get(key)
        name = f"{key[9].lower()}{key[10:]}" if key.startswith("exclusive") else key
        exclusive = name != key or schema.get(f"exclusive{key[0].upper()}{key[1:]}") is True
        if not is_number(value) or (kind != "number" and sign > 0 and value <= 0):
            continue
        bound = Bound(value, exclusive)
        if name not in bounds or is_narrower(name, bound, bounds[name]):
            bounds[name] = bound
    return bounds


def multiples_of(schema: Json) -> set[Fraction]:
    """The numbers of which a value must be a multiple."""
    number: Any = schema.get("multipleOf")
    return {Fraction(str(number))} if is_number(number) and number > 0 else set()


def others_of(node: Node) -> dict[str, set[str]]:
    """Constraints as texts: with another text something else is accepted."""
    schema = node.value
    others: dict[str, set[str]] = {}
    if isinstance(schema.get("pattern"), str) and schema["pattern"] not in _ANY_TEXT:
        others["pattern"] = {schema["pattern"]}
    name = schema.get("format")
    if name in CHECKED_FORMATS and (name != "byte" or node.library.is_30):
        others["format"] = {name}
    if schema.get("uniqueItems") is True:
        others["uniqueItems"] = {"true"}
    if "not" in schema:
        others["not"] = {_text(node.literal("not"))}
    if "if" in schema:
        condition = _text(node.literal("if"))
        for key in ("then", "else"):
            if key in schema:
                others[key] = {f"{condition} {_text(node.literal(key))}"}
    required = schema.get("dependentRequired")
    if isinstance(required, dict):
        pairs = ((name, other) for name, names in required.items() for other in list_of(names))
        others["dependentRequired"] = {f"{name} with {other}" for name, other in pairs}
    if isinstance(schema.get("dependentSchemas"), dict):
        children = children_of(node, "dependentSchemas")
        others["dependentSchemas"] = {f"{name} {_text(child)}" for name, child in children}
    return {key: texts for key, texts in others.items() if texts}


def _text(node: Node, depth: int = 0) -> str:
    """A schema as JSON with its references followed, down to a fixed depth."""
    return json.dumps(_plain(node, depth), sort_keys=True, default=str)


def _plain(node: Node, depth: int) -> object:
    if depth > _MAX_JSON_DEPTH:
        return "..."
    node, beside = target_of(node)
    if isinstance(node.value, dict):
        members = {
            key: _plain(node.literal(key), depth + 1)
            for key in node.value
            if not (key in _ABOUT and node.text(key))
        }
        return {"allOf": [members, beside]} if beside else members
    if isinstance(node.value, list):
        return [_plain(node.step(index), depth + 1) for index in range(len(node.value))]
    return node.value


def types_of(node: Node) -> frozenset[str] | None:
    """The types that `type` and the values allow together; None for any."""
    declared, values = _declared_types(node), values_of(node.value)
    if values is None:
        return declared
    of_values = frozenset(kind for value in values for kind in _kinds(value))
    return of_values if declared is None else declared & of_values


def _declared_types(node: Node) -> frozenset[str] | None:
    declared = node.value.get("type")
    if not isinstance(declared, str | list):
        return None
    types = {declared} if isinstance(declared, str) else {str(name) for name in declared}
    if node.value.get("nullable") is True:
        types.add("null")
    return frozenset(types | {"integer"} if "number" in types else types)


def values_of(schema: Json) -> list[Any] | None:
    """The values that both `const` and `enum` allow; None for any."""
    const = [schema["const"]] if "const" in schema else None
    listed = schema.get("enum")
    return both(const, listed if isinstance(listed, list) else None)


def both(some: list[object] | None, more: list[object] | None) -> list[object] | None:
    if some is None or more is None:
        return more if some is None else some
    return [value for value in some if value in more]


def _kinds(value: object) -> Iterator[str]:
    names = {bool: "boolean", str: "string", list: "array", dict: "object", type(None): "null"}
    if type(value) in names:
        yield names[type(value)]
    else:
        yield from ("number", "integer")


def children_of(node: Node, key: str) -> Iterator[tuple[str, Node]]:
    """The schemas of a mapping of schemas; a property may be named `$ref`."""
    holder = node.literal(key)
    for name in holder.value if isinstance(holder.value, dict) else ():
        child = holder.literal(name)
        if isinstance(child.value, dict | bool):
            yield str(name), child


def elements_of(node: Node, key: str) -> Iterator[Node]:
    holder = node.literal(key)
    for index in range(len(list_of(holder.value))):
        child = holder.step(index)
        if isinstance(child.value, dict | bool):
            yield child


def list_of(value: object) -> list[object]:
    return value if isinstance(value, list) else []
