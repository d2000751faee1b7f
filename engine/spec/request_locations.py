"""Whether a document describes a location in a request, and whether a value there can match a rule.

Only the keywords of a schema itself are read; whatever they leave open counts as possible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from math import inf
from typing import Any, NamedTuple

from engine.source.problem import Level
from engine.source.suggestion import near
from engine.spec.document.node import Node
from engine.spec.document.path_templates import variables
from engine.spec.document.schema_types import types_of
from engine.spec.expression import Expression
from engine.spec.operation import Operation
from engine.spec.quota_fields import properties
from engine.values.trees import is_number

_Bound = tuple[float, bool]
_BOUNDS = {
    frozenset({"integer", "number"}): (
        ("minimum", "exclusiveMinimum"),
        ("maximum", "exclusiveMaximum"),
    ),
    frozenset({"string"}): (("minLength", ""), ("maxLength", "")),
    frozenset({"array"}): (("minItems", ""), ("maxItems", "")),
}
"""Keywords of the minimum and the maximum, each inclusive and exclusive, by type."""


LOCATION_KINDS = {
    "body": "member of the body",
    "query": "query parameter",
    "path": "path variable",
}
"""What the locations that a document must name are called in messages; headers need no name."""


class Presence(Enum):
    """Whether requests can have a location: `NAMED` if the document names it, or leaves its name to
    callers, `OPEN` if it only does not exclude it, else `NONE`."""

    NAMED = "named"
    OPEN = "open"
    NONE = "none"


class RequestLocation(NamedTuple):
    """A location in a document: the schemas of its value, and the names that exist at its level."""

    presence: Presence
    schemas: Sequence[Node] = ()
    names: Sequence[str] = ()


def find_location(operation: Operation, node: Node, expression: Expression) -> RequestLocation:
    """The location of an expression in an operation; `node` is that of the operation."""
    if expression.location == "body":
        contents = node.get("requestBody").get("content").items()
        media = [media_type.get("schema") for _, media_type in contents]
        schemas = [schema for schema in media if schema.value is not None]
        return _in_body(schemas, expression.steps, media)
    name = expression.steps[0]
    if expression.location == "path":
        names = variables(operation.path)
        presence = Presence.NAMED if name in names else Presence.NONE
        return RequestLocation(presence, _parameter_schemas(node, name, "path"), names)
    names = [p.name for p in operation.parameters if p.location == expression.location]
    is_header = expression.location == "header"
    folded = [parameter.casefold() for parameter in names] if is_header else names
    presence = Presence.NAMED if name in folded else Presence.OPEN
    return RequestLocation(presence, _parameter_schemas(node, name, expression.location), names)


def unnamed(
    expression: Expression, locations: Sequence[RequestLocation]
) -> tuple[Level, list[str]]:
    """The level of a finding on an expression that none of `locations` names, and the names that
    exist there: an error if one of these resembles its name, or if no request can have it."""
    names = list(dict.fromkeys(name for location in locations for name in location.names))
    absent = all(location.presence is Presence.NONE for location in locations)
    is_error = absent or near(expression.steps[-1], names) is not None
    return Level.ERROR if is_error else Level.WARNING, names


def _parameter_schemas(node: Node, name: str, location: str) -> list[Node]:
    return [
        parameter.get("schema")
        for parameter in node.get("parameters").elements()
        if parameter.text("in") == location and parameter.text("name").casefold() == name.casefold()
    ]


def _in_body(schemas: list[Node], steps: Sequence[str], media: Sequence[Node]) -> RequestLocation:
    if not media:
        return RequestLocation(Presence.NONE)
    for step in steps:
        children = [child for schema in schemas for child in _children(schema, step)]
        names = list(dict.fromkeys(name for s in schemas for name, _ in properties(s)))
        if not children and near(step, names) is None:
            children = [s.get("additionalProperties") for s in schemas if _is_map(s)]
        if not children:
            closed = schemas and all(_is_closed(schema) for schema in schemas)
            return RequestLocation(Presence.NONE if closed else Presence.OPEN, (), names)
        schemas = children
    return RequestLocation(Presence.NAMED, schemas)


def _children(schema: Node, step: str) -> Iterator[Node]:
    yield from (child for name, child in properties(schema) if name == step)
    if step.isdigit() and "items" in (schema.value if isinstance(schema.value, dict) else {}):
        yield schema.get("items")


def _is_map(schema: Node) -> bool:
    """Whether the names of members are free: the schema says so, or says of an object no more than
    its type."""
    others = schema.get("additionalProperties").value
    if others is not None:
        return others is not False
    return schema.get("type").value == "object" and not [*properties(schema)]


def _is_closed(schema: Node) -> bool:
    """Whether the schema allows only the members that it names."""
    return schema.get("additionalProperties").value is False


def may_match(
    document: Node, rule: Mapping[str, object], accepts: Callable[[object], bool]
) -> bool:
    """Whether some value can match both a document's schema and a rule, whose validator `accepts`
    is; True if that is not certain."""
    schema = document.value if isinstance(document.value, dict) else {}
    kinds = types_of(schema, document.follow) & types_of(rule, lambda schema: schema)
    if not kinds:
        return False
    for values, check in ((_values(schema), accepts), (_values(rule), lambda value: True)):
        if values is not None and not any(
            check(value) and _is_within(value, schema) for value in values
        ):
            return False
    for types, words in _BOUNDS.items():
        if kinds <= types and _values(rule) is None:
            return _overlap(_range(schema, words), _range(rule, words))
    return True


def _values(schema: Mapping[str, object]) -> list[object] | None:
    """The values of `const` or `enum`; None for a schema without either."""
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum")
    return values if isinstance(values, list) else None


def _is_within(value: object, schema: Mapping[str, object]) -> bool:
    """Whether a value is within the bounds of a schema, and in its `enum`."""
    values = _values(schema)
    if values is not None and value not in values:
        return False
    if isinstance(value, bool) or not isinstance(value, int | float):
        return True
    words = _BOUNDS[frozenset({"integer", "number"})]
    return _overlap(_range(schema, words), ((value, False), (value, False)))


def _range(schema: Mapping[str, Any], words: Any) -> tuple[_Bound, _Bound]:
    """The minimum and the maximum, each with True if it is exclusive."""
    (minimum, exclusive_minimum), (maximum, exclusive_maximum) = words
    lows = [(schema[minimum], False)] if is_number(schema.get(minimum)) else []
    lows += [(schema[exclusive_minimum], True)] if is_number(schema.get(exclusive_minimum)) else []
    highs = [(schema[maximum], False)] if is_number(schema.get(maximum)) else []
    highs += [(schema[exclusive_maximum], True)] if is_number(schema.get(exclusive_maximum)) else []
    return max(lows, default=(-inf, False)), min(
        highs, default=(inf, False), key=lambda bound: (bound[0], not bound[1])
    )


def _overlap(first: tuple[_Bound, _Bound], second: tuple[_Bound, _Bound]) -> bool:
    low = max(first[0], second[0])
    high = min(first[1], second[1], key=lambda bound: (bound[0], not bound[1]))
    return low[0] < high[0] or (low[0] == high[0] and not low[1] and not high[1])
