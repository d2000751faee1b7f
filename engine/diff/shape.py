"""A schema as one flat view, its references followed and its `allOf` joined: what is compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from engine.spec.library import Node
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
    made.enum = [said["const"]] if "const" in said else said.get("enum")
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
    if more.types is not None:
        made.types = more.types if made.types is None else made.types & more.types
    made.enum = more.enum if made.enum is None else made.enum
    made.required |= more.required
    made.properties = {**more.properties, **made.properties}
    made.closed |= more.closed
    made.items = made.items or more.items
    made.further = made.further or more.further
    made.unions += more.unions
    made.bounds = {**more.bounds, **made.bounds}
    made.pattern = made.pattern or more.pattern
    made.rest = {**more.rest, **made.rest}


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
    values = [node.value["const"]] if "const" in node.value else node.value.get("enum")
    if not isinstance(values, list):
        return None
    return frozenset(kind for value in values for kind in _kinds(value))


def _of_union(node: Node, key: str, depth: int) -> frozenset[str] | None:
    each = [shape_of(branch, depth + 1).types for branch in node.get(key).elements()]
    if not each or any(types is None for types in each):
        return None
    return frozenset(kind for types in each for kind in types or ())


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
