"""A flat view of a schema for comparison: references followed, `allOf` joined.

A part of a schema is a tuple of nodes that must all accept a value: a property that two branches of
`allOf` describe has two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor
from typing import Any

from engine.offline.diff.compared_keywords import (
    BOUNDS,
    TYPES,
    Bound,
    both,
    bounds_of,
    children_of,
    elements_of,
    is_narrower,
    list_of,
    multiples_of,
    others_of,
    target_of,
    types_of,
    values_of,
)
from engine.spec.document.node import Node

_MAX_DEPTH = 12
_MAX_VISITS = 5_000
UNIONS = ("oneOf", "anyOf")
_SUBSCHEMAS = (
    *("items", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"),
    *("propertyNames", "contains"),
)

Part = tuple[Node, ...]
"""Schemas that must all accept a value; without any, every value is accepted."""


@dataclass(slots=True)
class Shape:
    """The flat view of a schema. `types` and `enum` are None if any is allowed. `closed` refuses
    properties that are not named. `subschemas` are by keyword, `patterns` those of
    `patternProperties`. `unions` are lists of branches, each by its keyword. `others` are
    constraints that are compared for equality only: the texts of each keyword."""

    node: Node
    types: frozenset[str] | None = None
    enum: list[Any] | None = None
    required: set[str] = field(default_factory=set)
    properties: dict[str, Part] = field(default_factory=dict)
    patterns: dict[str, Part] = field(default_factory=dict)
    prefix: list[Part] = field(default_factory=list)
    subschemas: dict[str, Part] = field(default_factory=dict)
    closed: bool = False
    unions: list[tuple[str, Part]] = field(default_factory=list)
    bounds: dict[str, Bound] = field(default_factory=dict)
    multiples: set[Fraction] = field(default_factory=set)
    others: dict[str, set[str]] = field(default_factory=dict)

    @property
    def further(self) -> Part:
        """The schemas of properties that are not named."""
        return self.subschemas.get("additionalProperties", ())

    @property
    def items(self) -> Part:
        """The schemas of the items behind those of `prefixItems`."""
        return self.subschemas.get("items", ())

    @property
    def is_trivial(self) -> bool:
        """Whether every value is accepted."""
        return self == Shape(self.node)


@dataclass(slots=True)
class _Reader:
    """One reading of schemas. `visits` bounds it, as a few schemas that refer to each other can
    have billions of branches. `keeps_unions`: a union of one schema stays a union."""

    keeps_unions: bool
    visits: Iterator[int] = field(default_factory=lambda: iter(range(_MAX_VISITS)))


def shape_of(part: Part, *, keeps_unions: bool = False) -> Shape:
    """The view of a part, which has a schema, down to a fixed depth. A union of one schema, or of
    one and null, is that schema, unless `keeps_unions`."""
    reader = _Reader(keeps_unions)
    shape = _shape(part[0], reader, 0)
    for node in part[1:]:
        _join(shape, _shape(node, reader, 0))
    _drop_idle(shape)
    return shape


def _shape(node: Node, reader: _Reader, depth: int) -> Shape:
    target, beside = target_of(node)
    shape = Shape(target)
    if depth > _MAX_DEPTH or next(reader.visits, None) is None:
        return shape
    if target.value is False:
        shape.types = frozenset()
    if isinstance(target.value, dict):
        _read(shape, target, reader, depth)
    if beside:
        siblings = Shape(node)
        _read(siblings, Node(node.library, node.uri, node.path, beside), reader, depth)
        _join(shape, siblings)
    return shape


def _read(shape: Shape, node: Node, reader: _Reader, depth: int) -> None:
    """Read the keywords of a schema, then those of its branches of `allOf`."""
    schema = node.value
    shape.types = types_of(node)
    shape.enum = values_of(schema)
    shape.required = {name for name in list_of(schema.get("required")) if isinstance(name, str)}
    shape.properties = {name: (child,) for name, child in children_of(node, "properties")}
    shape.patterns = {name: (child,) for name, child in children_of(node, "patternProperties")}
    shape.prefix = [(child,) for child in elements_of(node, "prefixItems")]
    for key in _SUBSCHEMAS:
        child = node.literal(key)
        if child.value is False or (isinstance(child.value, dict) and child.value):
            shape.subschemas[key] = (child,)
    for key in ("additionalProperties", "unevaluatedProperties"):
        if schema.get(key) is False:
            shape.closed = True
            del shape.subschemas[key]
    shape.bounds = bounds_of(schema)
    shape.multiples = multiples_of(schema)
    shape.others = others_of(node)
    for branch in elements_of(node, "allOf"):
        _join(shape, _shape(branch, reader, depth + 1))
    for key in UNIONS:
        branches = tuple(elements_of(node, key))
        if branches:
            _add_union(shape, key, branches, reader, depth)


def _add_union(shape: Shape, key: str, branches: Part, reader: _Reader, depth: int) -> None:
    """Add a union. Of one schema and null it is that schema, which may be null as well."""
    shapes = [_shape(branch, reader, depth + 1) for branch in branches]
    types = [each.types for each in shapes]
    united = None if None in types else frozenset(kind for each in types for kind in each or ())
    values = [index for index, each in enumerate(types) if each != frozenset({"null"})]
    if len(values) == 1 and not reader.keeps_unions:
        only = shapes[values[0]]
        only.types = united
        if only.enum is not None and len(values) < len(branches):
            only.enum = [*only.enum, None]
        _join(shape, only)
        return
    _join(shape, Shape(shape.node, types=united, unions=[(key, branches)]))


def joined(shape: Shape, more: Shape) -> Shape:
    """The view of both schemas together."""
    result = Shape(shape.node)
    _join(result, shape)
    _join(result, more)
    return result


def _join(shape: Shape, more: Shape) -> None:
    """Join the view of a schema that must accept the values as well."""
    if more.types is not None:
        shape.types = more.types if shape.types is None else shape.types & more.types
    shape.enum = both(shape.enum, more.enum)
    shape.required |= more.required
    shape.closed |= more.closed
    for key, bound in more.bounds.items():
        previous = shape.bounds.get(key)
        if previous is None or is_narrower(key, bound, previous):
            shape.bounds[key] = bound
    for target, others in (
        (shape.properties, more.properties),
        (shape.patterns, more.patterns),
        (shape.subschemas, more.subschemas),
    ):
        for name, part in others.items():
            target[name] = _with(target.get(name, ()), part)
    for index, part in enumerate(more.prefix):
        if index < len(shape.prefix):
            shape.prefix[index] = _with(shape.prefix[index], part)
        else:
            shape.prefix.append(part)
    keys = {_union_key(union) for union in shape.unions}
    shape.unions += [union for union in more.unions if _union_key(union) not in keys]
    shape.multiples |= more.multiples
    for key, texts in more.others.items():
        shape.others[key] = shape.others.get(key, set()) | texts


def followed(part: Part) -> Part:
    """The part with its references followed, but those that have keywords beside them."""
    targets = ((node, *target_of(node)) for node in part)
    return tuple(node if beside else target for node, target, beside in targets)


def key_of(part: Part) -> tuple[object, ...]:
    """A value that is equal for parts of the same schemas. Two libraries may have a file in two
    states, as overlays change it."""
    return tuple((id(node.library), node.uri, node.path) for node in part)


def _union_key(union: tuple[str, Part]) -> tuple[object, ...]:
    return union[0], *key_of(union[1])


def _with(part: Part, more: Part) -> Part:
    keys = set(key_of(part))
    return (*part, *(node for node in more if (node.uri, node.path) not in keys))


def _drop_idle(shape: Shape) -> None:
    """Drop the keywords of types that the schema does not allow, and make the bounds of integers
    inclusive."""
    types = TYPES if shape.types is None else shape.types
    is_integer = shape.types is not None and "number" not in types and "integer" in types
    for key, bound in list(shape.bounds.items()):
        kind, sign = BOUNDS[key]
        if kind not in types and not (kind == "number" and "integer" in types):
            del shape.bounds[key]
        elif is_integer and kind == "number" and isinstance(bound.value, int | float):
            value = _inclusive(bound, sign)
            shape.bounds[key] = Bound(value)
    if "string" not in types:
        for key in ("pattern", "format"):
            shape.others.pop(key, None)
    if "object" not in types:
        shape.closed = False


def _inclusive(bound: Bound, sign: int) -> int:
    value: int | float = bound.value
    if sign > 0:
        return floor(value) + 1 if bound.exclusive else ceil(value)
    return ceil(value) - 1 if bound.exclusive else floor(value)
