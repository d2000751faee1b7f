"""Where a document puts a value of a request, and whether a value can be there at all.

A schema is read as far as its own words go; what it leaves open is taken to be possible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from math import inf
from typing import Any, NamedTuple

from engine.spec.document.node import Node
from engine.spec.expression import Expression
from engine.spec.operation import Operation
from engine.spec.path_templates import variables
from engine.spec.quota_fields import properties
from engine.spec.schema_types import types_of

_Bound = tuple[float, bool]
_BOUNDS = {
    frozenset({"integer", "number"}): (
        ("minimum", "exclusiveMinimum"),
        ("maximum", "exclusiveMaximum"),
    ),
    frozenset({"string"}): (("minLength", ""), ("maxLength", "")),
    frozenset({"array"}): (("minItems", ""), ("maxItems", "")),
}
"""Keywords of the lowest and the highest value, inclusive and exclusive, by type."""


class Presence(Enum):
    """Whether requests have a place: `NAMED` by the document, `OPEN` if it allows others too."""

    NAMED = "named"
    OPEN = "open"
    NONE = "none"


class RequestPlace(NamedTuple):
    """What a document says of a place: the schemas of its value, and names that it has instead."""

    presence: Presence
    schemas: Sequence[Node] = ()
    names: Sequence[str] = ()


def find_place(operation: Operation, node: Node, expression: Expression) -> RequestPlace:
    """The place of an expression in an operation; `node` is that of the operation."""
    if expression.place == "body":
        media = [each.get("schema") for _, each in node.get("requestBody").get("content").items()]
        return _in_body([each for each in media if each.value is not None], expression.steps, media)
    name = expression.steps[0]
    if expression.place == "path":
        names = variables(operation.path)
        present = Presence.NAMED if name in names else Presence.NONE
        return RequestPlace(present, _of_parameter(node, name, "path"), names)
    names = [p.name for p in operation.parameters if p.place == expression.place]
    folded = [each.casefold() for each in names] if expression.place == "header" else names
    present = Presence.NAMED if name in folded else Presence.OPEN
    return RequestPlace(present, _of_parameter(node, name, expression.place), names)


def _of_parameter(node: Node, name: str, place: str) -> list[Node]:
    return [
        parameter.get("schema")
        for parameter in node.get("parameters").elements()
        if parameter.text("in") == place and parameter.text("name").casefold() == name.casefold()
    ]


def _in_body(schemas: list[Node], steps: Sequence[str], media: Sequence[Node]) -> RequestPlace:
    if not media:
        return RequestPlace(Presence.NONE)
    for step in steps:
        below = [child for schema in schemas for child in _children(schema, step)]
        if not below:
            names = list(dict.fromkeys(name for s in schemas for name, _ in properties(s)))
            closed = schemas and all(_is_closed(schema) for schema in schemas)
            return RequestPlace(Presence.NONE if closed else Presence.OPEN, (), names)
        schemas = below
    return RequestPlace(Presence.NAMED, schemas)


def _children(schema: Node, step: str) -> Iterator[Node]:
    yield from (below for name, below in properties(schema) if name == step)
    if step.isdigit() and "items" in (schema.value if isinstance(schema.value, dict) else {}):
        yield schema.get("items")


def _is_closed(schema: Node) -> bool:
    """Whether every object that the schema allows has only members that it names."""
    return schema.get("additionalProperties").value is False


def may_match(document: Node, rule: Mapping[str, Any], accepts: Callable[[Any], bool]) -> bool:
    """Whether a value can meet both a schema of a document and a rule, which `accepts` values; True
    where that is not plain to see."""
    schema = document.value if isinstance(document.value, dict) else {}
    kinds = types_of(schema, document.follow) & types_of(rule, lambda below: below)
    if not kinds:
        return False
    for values, other in ((_values(schema), accepts), (_values(rule), lambda value: True)):
        if values is not None and not any(
            other(value) and _is_within(value, schema) for value in values
        ):
            return False
    for types, words in _BOUNDS.items():
        if kinds <= types and _values(rule) is None:
            return _overlap(_range(schema, words), _range(rule, words))
    return True


def _values(schema: Mapping[str, Any]) -> list[Any] | None:
    """The only values that a schema allows; None for one that does not list them."""
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum")
    return values if isinstance(values, list) else None


def _is_within(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether a value keeps the bounds of a schema, and is one that it lists."""
    listed = _values(schema)
    if listed is not None and value not in listed:
        return False
    if isinstance(value, bool) or not isinstance(value, int | float):
        return True
    words = _BOUNDS[frozenset({"integer", "number"})]
    return _overlap(_range(schema, words), ((value, False), (value, False)))


def _range(schema: Mapping[str, Any], words: Any) -> tuple[_Bound, _Bound]:
    """The lowest and the highest value, each with whether it is excluded itself."""
    (low, above), (high, below) = words
    lowest = [(schema[low], False)] if _is_number(schema.get(low)) else []
    lowest += [(schema[above], True)] if _is_number(schema.get(above)) else []
    highest = [(schema[high], False)] if _is_number(schema.get(high)) else []
    highest += [(schema[below], True)] if _is_number(schema.get(below)) else []
    return max(lowest, default=(-inf, False)), min(
        highest, default=(inf, False), key=lambda bound: (bound[0], not bound[1])
    )


def _overlap(one: tuple[_Bound, _Bound], other: tuple[_Bound, _Bound]) -> bool:
    low = max(one[0], other[0])
    high = min(one[1], other[1], key=lambda bound: (bound[0], not bound[1]))
    return low[0] < high[0] or (low[0] == high[0] and not low[1] and not high[1])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
