"""A flat view of a schema for comparison: references followed, `allOf` joined."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from engine.spec.document.node import Node
from engine.spec.schemas import CHECKED_FORMATS

_MAX_DEPTH = 12
_MAX_VISITS = 5_000
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
"""Keywords that narrow a schema when their value grows (1) or shrinks (-1)."""

UNANALYSED = (
    *("multipleOf", "uniqueItems", "not", "if", "then", "else", "prefixItems", "contains"),
    *("minContains", "maxContains", "propertyNames", "patternProperties", "dependentRequired"),
    "dependentSchemas",
)
"""Keywords whose values are compared only for equality."""


@dataclass(slots=True)
class Shape:
    """The flat view of a schema. `types` and `enum` are None if any is allowed. `closed` refuses
    properties that are not named; `further` is the schema of those (`additionalProperties`)."""

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
    unanalysed: dict[str, Any] = field(default_factory=dict)


def shape_of(node: Node, depth: int = 0, visits: Iterator[int] | None = None) -> Shape:
    """The view of a schema, down to a fixed depth. `visits` bounds the walk, as a few schemas that
    refer to each other can have billions of branches."""
    visits = iter(range(_MAX_VISITS)) if visits is None else visits
    node = node.resolved()
    shape = Shape(node)
    schema = node.value
    if not isinstance(schema, dict) or depth > _MAX_DEPTH or next(visits, None) is None:
        return shape
    shape.types = _types(node, depth, visits)
    shape.enum = _values(schema)
    shape.required = {name for name in _list(schema.get("required")) if isinstance(name, str)}
    shape.properties = dict(node.get("properties").items())
    shape.closed = schema.get("additionalProperties") is False
    shape.closed |= schema.get("unevaluatedProperties") is False
    shape.items = _below(node, "items")
    shape.further = _below(node, "additionalProperties")
    shape.unions = [branch for key in _UNIONS for branch in node.get(key).elements()]
    shape.bounds = {key: schema[key] for key in BOUNDS if _is_number(schema.get(key))}
    shape.pattern = node.text("pattern")
    shape.unanalysed = {
        key: schema[key] for key in UNANALYSED if schema.get(key) not in (None, False)
    }
    if schema.get("format") in CHECKED_FORMATS or schema.get("format") in ("int32", "int64"):
        shape.unanalysed["format"] = schema["format"]
    for branch in node.get("allOf").elements():
        _join(shape, shape_of(branch, depth + 1, visits))
    return shape


def _join(shape: Shape, more: Shape) -> None:
    """Join a branch of `allOf`. A part that both describe differently is not analysed."""
    if more.types is not None:
        shape.types = more.types if shape.types is None else shape.types & more.types
    shape.enum = _both(shape.enum, more.enum)
    shape.required |= more.required
    shape.closed |= more.closed
    for key, bound in more.bounds.items():
        previous = shape.bounds.get(key, bound)
        shape.bounds[key] = max(previous, bound) if BOUNDS[key] > 0 else min(previous, bound)
    parts = {**_parts(shape), **shape.unanalysed}
    twice = {
        key: value for key, value in {**_parts(more), **more.unanalysed}.items() if key in parts
    }
    shape.properties = {**more.properties, **shape.properties}
    shape.items = shape.items or more.items
    shape.further = shape.further or more.further
    shape.unions = shape.unions or more.unions
    shape.pattern = shape.pattern or more.pattern
    shape.unanalysed = {**more.unanalysed, **shape.unanalysed}
    for key, value in twice.items():
        if value != parts[key]:
            shape.unanalysed[f"{key} (allOf)"] = [
                *shape.unanalysed.get(f"{key} (allOf)", ()),
                value,
            ]


def _parts(shape: Shape) -> dict[str, Any]:
    """The subschemas of a shape, by their names in differences."""
    parts: dict[str, Any] = {f"'{name}'": node.value for name, node in shape.properties.items()}
    parts |= {"items": shape.items.value} if shape.items is not None else {}
    parts |= {"additionalProperties": shape.further.value} if shape.further is not None else {}
    parts |= {"union": [node.value for node in shape.unions]} if shape.unions else {}
    return parts | ({"pattern": shape.pattern} if shape.pattern else {})


def _types(node: Node, depth: int, visits: Iterator[int]) -> frozenset[str] | None:
    """The types that a schema allows by its `type`, its values and its unions together; None for
    any."""
    allowed: frozenset[str] | None = None
    for types in (
        _declared_types(node),
        _of_values(node),
        *(_of_union(node, key, depth, visits) for key in _UNIONS),
    ):
        if types is not None:
            allowed = types if allowed is None else allowed & types
    return allowed


def _declared_types(node: Node) -> frozenset[str] | None:
    declared = node.value.get("type")
    if not isinstance(declared, str | list):
        return None
    types = {declared} if isinstance(declared, str) else {str(name) for name in declared}
    if node.value.get("nullable") is True:
        types.add("null")
    return frozenset(types | {"integer"} if "number" in types else types)


def _of_values(node: Node) -> frozenset[str] | None:
    values = _values(node.value)
    if values is None:
        return None
    return frozenset(kind for value in values for kind in _kinds(value))


def _of_union(node: Node, key: str, depth: int, visits: Iterator[int]) -> frozenset[str] | None:
    branches = [shape_of(branch, depth + 1, visits).types for branch in node.get(key).elements()]
    if not branches or any(types is None for types in branches):
        return None
    return frozenset(kind for types in branches for kind in types or ())


def _values(schema: dict[str, Any]) -> list[Any] | None:
    """The values that both `const` and `enum` allow; None for any."""
    const = [schema["const"]] if "const" in schema else None
    listed = schema.get("enum")
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
