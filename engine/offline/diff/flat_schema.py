"""A schema as one flat view, its references followed and its `allOf` joined: what is compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from engine.spec.document.node import Node
from engine.spec.schemas import CHECKED_FORMATS

_DEEPEST = 12
_UNIONS = ("oneOf", "anyOf")
BOUNDS = {
    "minLength": 1,
    "minimum": 1,
    "exclusiveMinimum": 1,
    "minItems": 1,
    "minProperties": 1,
    "maxLength": -1,
    "maximum": -1,
    "exclusiveMaximum": -1,
    "maxItems": -1,
    "maxProperties": -1,
}
"""Keywords that are narrower when they grow (1) or shrink (-1)."""

OTHERS = (
    *("multipleOf", "uniqueItems", "not", "if", "then", "else", "prefixItems", "contains"),
    *("minContains", "maxContains", "propertyNames", "patternProperties", "dependentRequired"),
    "dependentSchemas",
)
"""Keywords that narrow a schema in a way that is not looked into: new or other is told."""


@dataclass(slots=True)
class Shape:
    """`types` and `enum` are None where anything goes; `closed` refuses further properties."""

    node: Node
    types: frozenset[str] | None = None
    enum: list[Any] | None = None
    required: set[str] = field(default_factory=set)
    properties: dict[str, Node] = field(default_factory=dict)
    closed: bool = False
    items: Node | None = None
    further: Node | None = None
    unions: list[Node] = field(default_factory=list)
    bounds: dict[str, Any] = field(default_factory=dict)
    pattern: str = ""
    rest: dict[str, Any] = field(default_factory=dict)


def shape_of(node: Node, depth: int = 0) -> Shape:
    """The view of a schema. Whatever is nested beyond any sense is left out."""
    node = node.resolved()
    made = Shape(node)
    said = node.value
    if not isinstance(said, dict) or depth > _DEEPEST:
        return made
    made.types = _types(node, depth)
    made.enum = _values(said)
    made.required = {name for name in _list(said.get("required")) if isinstance(name, str)}
    made.properties = dict(node.get("properties").items())
    made.closed = said.get("additionalProperties") is False
    made.closed |= said.get("unevaluatedProperties") is False
    made.items = _below(node, "items")
    made.further = _below(node, "additionalProperties")
    made.unions = [one for key in _UNIONS for one in node.get(key).elements()]
    made.bounds = {key: said[key] for key in BOUNDS if _is_number(said.get(key))}
    made.pattern = node.text("pattern")
    made.rest = {key: said[key] for key in OTHERS if said.get(key) not in (None, False)}
    if said.get("format") in CHECKED_FORMATS or said.get("format") in ("int32", "int64"):
        made.rest["format"] = said["format"]
    for branch in node.get("allOf").elements():
        _join(made, shape_of(branch, depth + 1))
    return made


def _join(made: Shape, more: Shape) -> None:
    """Take in a branch of `allOf`; what two of them say of one thing is compared as a whole."""
    if more.types is not None:
        made.types = more.types if made.types is None else made.types & more.types
    made.enum = _both(made.enum, more.enum)
    made.required |= more.required
    made.closed |= more.closed
    for key, bound in more.bounds.items():
        known = made.bounds.get(key, bound)
        made.bounds[key] = max(known, bound) if BOUNDS[key] > 0 else min(known, bound)
    said = {**_parts(made), **made.rest}
    twice = {key: value for key, value in {**_parts(more), **more.rest}.items() if key in said}
    made.properties = {**more.properties, **made.properties}
    made.items = made.items or more.items
    made.further = made.further or more.further
    made.unions = made.unions or more.unions
    made.pattern = made.pattern or more.pattern
    made.rest = {**more.rest, **made.rest}
    for key, value in twice.items():
        if value != said[key]:
            made.rest[f"{key} (allOf)"] = [*made.rest.get(f"{key} (allOf)", ()), value]


def _parts(shape: Shape) -> dict[str, Any]:
    """What a schema says of its parts, by the words for it."""
    found: dict[str, Any] = {f"'{name}'": node.value for name, node in shape.properties.items()}
    found |= {"items": shape.items.value} if shape.items is not None else {}
    found |= {"additionalProperties": shape.further.value} if shape.further is not None else {}
    found |= {"union": [node.value for node in shape.unions]} if shape.unions else {}
    return found | ({"pattern": shape.pattern} if shape.pattern else {})


def _types(node: Node, depth: int) -> frozenset[str] | None:
    """The types that a schema takes by its `type`, its values and its unions together."""
    made: frozenset[str] | None = None
    for found in (_said(node), _of_values(node), *(_of_union(node, key, depth) for key in _UNIONS)):
        if found is not None:
            made = found if made is None else made & found
    return made


def _said(node: Node) -> frozenset[str] | None:
    said = node.value.get("type")
    if not isinstance(said, str | list):
        return None
    found = {said} if isinstance(said, str) else {str(one) for one in said}
    if node.value.get("nullable") is True:
        found.add("null")
    return frozenset(found | {"integer"} if "number" in found else found)


def _of_values(node: Node) -> frozenset[str] | None:
    values = _values(node.value)
    if values is None:
        return None
    return frozenset(kind for value in values for kind in _kinds(value))


def _of_union(node: Node, key: str, depth: int) -> frozenset[str] | None:
    each = [shape_of(branch, depth + 1).types for branch in node.get(key).elements()]
    if not each or any(types is None for types in each):
        return None
    return frozenset(kind for types in each for kind in types or ())


def _values(said: dict[str, Any]) -> list[Any] | None:
    """The values that `const` and `enum` leave; None for any."""
    const = [said["const"]] if "const" in said else None
    listed = said.get("enum")
    return _both(const, listed if isinstance(listed, list) else None)


def _both(some: list[Any] | None, more: list[Any] | None) -> list[Any] | None:
    if some is None or more is None:
        return more if some is None else some
    return [value for value in some if value in more]


def _kinds(value: Any) -> Iterator[str]:
    names = {bool: "boolean", str: "string", list: "array", dict: "object", type(None): "null"}
    if type(value) in names:
        yield names[type(value)]
    else:
        yield from ("number", "integer")


def _below(node: Node, key: str) -> Node | None:
    below = node.get(key)
    return below if isinstance(below.value, dict) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
